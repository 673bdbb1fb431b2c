import random

import igraph

igraph.set_random_number_generator(random.Random(0))
graph = igraph.Graph.Ring(20)
graph.add_edges([(0, 10), (5, 15)])
print(graph.diameter(), graph.get_shortest_paths(0, 13), max(graph.betweenness()))
print(graph.community_multilevel().modularity > 0.3, igraph.Graph.Full(5).is_connected(), graph.maxflow_value(0, 10))
