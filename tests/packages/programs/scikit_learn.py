from sklearn import cluster, datasets, decomposition, ensemble, linear_model, model_selection, svm

data, target = datasets.load_iris(return_X_y=True)
print(model_selection.cross_val_score(linear_model.LogisticRegression(max_iter=500), data, target).round(6))
print(ensemble.RandomForestClassifier(20, random_state=0).fit(data, target).feature_importances_.round(6))
print(svm.SVC().fit(data, target).n_support_)
print(sorted(cluster.KMeans(3, n_init=3, random_state=0).fit(data).cluster_centers_[:, 0].round(4)))
print(decomposition.PCA(2).fit(data).explained_variance_ratio_.round(6))
