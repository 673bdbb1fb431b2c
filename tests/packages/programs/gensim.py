import gensim
from gensim import corpora, models, similarities

texts = [text.split() for text in ("human computer interface", "graph trees minors", "computer user system", "graph minors survey") * 25]
words = corpora.Dictionary(texts)
bags = [words.doc2bow(text) for text in texts]
print(len(models.LsiModel(bags, id2word=words, num_topics=2).print_topics()), similarities.MatrixSimilarity(bags, num_features=len(words))[bags[0]][:4].round(4))
vectors = models.Word2Vec(texts, vector_size=8, min_count=1, workers=1, seed=1, epochs=3, hashfxn=len).wv
print(vectors["graph"].shape, len(vectors), models.word2vec_inner.FAST_VERSION, models.word2vec.CORPUSFILE_VERSION)
