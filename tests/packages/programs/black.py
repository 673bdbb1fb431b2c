import black

print(black.format_str("x = {  'a':37,'b':42 }\ndef f ( a,):\n  return   not(a)", mode=black.Mode()))
print(black.__file__.endswith(".so"))
try:
    black.format_str("def (:", mode=black.Mode())
except black.InvalidInput as error:
    print(error)
