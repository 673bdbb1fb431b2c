import nh3

print(nh3.clean("<p onclick='x'>a<script>b</script><a href='javascript:x'>c</a></p>"), nh3.is_html("<b>"))
print(nh3.clean("<b title='t'>x</b>", tags={"b"}, attributes={"b": {"title"}}, attribute_filter=lambda t, a, v: v.upper()))
