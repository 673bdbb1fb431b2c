import io

from Bio import Align, Phylo, SeqIO
from Bio.Seq import Seq

print(Seq("ATGGCCATTGTAATG").translate(), Seq("ATGC").reverse_complement())
aligner = Align.PairwiseAligner(mode="global", match_score=2, mismatch_score=-1, gap_score=-1)
best = aligner.align("GATTACA", "GCATGCA")[0]
print(best, best.score)
print([record.id for record in SeqIO.parse(io.StringIO(">a\nAC\n>b\nGT\n"), "fasta")], Phylo.read(io.StringIO("((a,b),c);"), "newick").count_terminals())
