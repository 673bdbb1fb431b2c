import pymupdf

document = pymupdf.open()
page = document.new_page()
page.insert_text((72, 72), "Hello, page", fontsize=20)
page.draw_rect((100, 100, 200, 200), color=(1, 0, 0))
again = pymupdf.open("pdf", document.tobytes())
print(again[0].get_text(), again[0].search_for("page"), len(again[0].get_drawings()))
picture = again[0].get_pixmap()
print(picture.width, picture.height, picture.color_count())
