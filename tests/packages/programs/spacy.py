import spacy
from spacy import matcher, training

nlp = spacy.blank("en")
ner = nlp.add_pipe("ner")
ner.add_label("CITY")
spacy.util.fix_random_seed(0)
examples = [training.Example.from_dict(nlp.make_doc(f"I live in {city} now"), {"entities": [(10, 10 + len(city), "CITY")]}) for city in ("Paris", "London", "Rome")]
optimizer = nlp.initialize(lambda: examples)
losses = [nlp.update(examples, sgd=optimizer)["ner"] for _ in range(15)]
doc = nlp("They live in Berlin now.")
print([token.text for token in doc], losses[-1] < losses[0])
found = matcher.Matcher(nlp.vocab)
found.add("X", [[{"LOWER": "live"}, {"IS_ALPHA": True}]])
print([doc[begin:end].text for _, begin, end in found(doc)], len(spacy.tokens.DocBin(docs=[doc]).to_bytes()) > 0)
