import pathlib
import tempfile

import sentence_transformers
import torch
import transformers
from sentence_transformers import losses, models, util

torch.manual_seed(0)
words = "[PAD] [UNK] [CLS] [SEP] [MASK] a cat dog sat ran on the mat hill fast".split()
sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
texts = ["the cat sat on a mat", "a dog ran fast", "the dog sat"]
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder)
    (path / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizerFast(str(path / "vocab.txt")).save_pretrained(folder)
    transformers.BertModel(transformers.BertConfig(**sizes, vocab_size=len(words))).save_pretrained(folder)
    transformer = models.Transformer(folder, max_seq_length=16)
    model = sentence_transformers.SentenceTransformer(modules=[transformer, models.Pooling(32)], device="cpu")
    vectors = model.encode(texts, convert_to_tensor=True)
    print(vectors.shape, vectors[:, :3])
    print(model.similarity(vectors, vectors).round(decimals=4))
    print([hits[0]["corpus_id"] for hits in util.semantic_search(vectors, vectors, top_k=2)])
    model.save(str(path / "saved"))
    again = sentence_transformers.SentenceTransformer(str(path / "saved"), device="cpu")
    print(torch.allclose(again.encode(texts, convert_to_tensor=True), vectors, atol=1e-6))
    loss = losses.MultipleNegativesRankingLoss(again)(
        [again.tokenize(texts[:2]), again.tokenize(texts[1:])], torch.zeros(2)
    )
    loss.backward()
    print(loss)
    transformers.BertForSequenceClassification(
        transformers.BertConfig(**sizes, vocab_size=len(words), num_labels=1)
    ).save_pretrained(path / "cross")
    transformers.BertTokenizerFast(str(path / "vocab.txt")).save_pretrained(path / "cross")
    cross = sentence_transformers.CrossEncoder(str(path / "cross"), device="cpu")
    print(cross.predict([texts[:2], texts[1:]]).shape, [each["corpus_id"] for each in cross.rank(texts[0], texts)])
