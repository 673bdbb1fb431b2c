import ahocorasick

automaton = ahocorasick.Automaton()
for index, word in enumerate("he her hers she".split()):
    automaton.add_word(word, (index, word))
automaton.make_automaton()
print(list(automaton.iter("ushers")), automaton.get_stats()["nodes_count"], list(automaton.keys("he")))
