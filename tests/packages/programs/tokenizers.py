from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase()])
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
text = ["the quick brown fox jumps over the lazy dog", "a quick brown cat"] * 20
tokenizer.train_from_iterator(text, trainers.BpeTrainer(vocab_size=80, special_tokens=["[UNK]"], show_progress=False))
encoded = tokenizer.encode("The quick dog leaps")
print(encoded.tokens, encoded.ids, encoded.offsets, tokenizer.decode(encoded.ids))
tokenizer.enable_padding(length=12)
print([len(one) for one in tokenizer.encode_batch(text)][:3], Tokenizer.from_str(tokenizer.to_str()).get_vocab_size())
