import charset_normalizer

for text, encoding in [("Привет, как дела? Всё хорошо, спасибо большое.", "cp1251"), ("Déjà vu à la crème brûlée, là où ça gêne.", "utf-8")]:
    best = charset_normalizer.from_bytes(text.encode(encoding) * 20).best()
    print(best.encoding, best.language, str(best)[:20])
print(charset_normalizer.md.__file__.rsplit(".", 1)[1])
