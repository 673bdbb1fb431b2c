import io

import sentencepiece

text = ["the quick brown fox jumps over the lazy dog", "a lazy cat sleeps on the brown chair", "pack my box with five dozen jugs"] * 20
model = io.BytesIO()
sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(text), model_writer=model, vocab_size=35, minloglevel=2)
processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
print(processor.encode("the lazy fox", out_type=str), processor.decode(processor.encode("the lazy fox")), processor.get_piece_size())
