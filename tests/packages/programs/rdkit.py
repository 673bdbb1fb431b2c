from rdkit import Chem
from rdkit.Chem import AllChem, Descriptors, rdFingerprintGenerator

aspirin = Chem.MolFromSmiles("CC(=O)Oc1ccccc1C(=O)O")
print(Chem.MolToSmiles(aspirin), round(Descriptors.MolWt(aspirin), 3), aspirin.GetSubstructMatch(Chem.MolFromSmarts("C(=O)O")))
print(rdFingerprintGenerator.GetMorganGenerator(2).GetFingerprint(aspirin).GetNumOnBits())
molecule = Chem.AddHs(Chem.MolFromSmiles("CCO"))
print(AllChem.EmbedMolecule(molecule, randomSeed=1), AllChem.MMFFOptimizeMolecule(molecule))
