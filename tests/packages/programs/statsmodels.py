import numpy
import statsmodels.api as sm
from statsmodels.tsa import arima, holtwinters

random = numpy.random.default_rng(0)
x = sm.add_constant(random.standard_normal((100, 2)))
y = x @ [1, 2, 3] + random.standard_normal(100)
print(sm.OLS(y, x).fit().summary().tables[1])
print(sm.GLM(y > 1, x, family=sm.families.Binomial()).fit().params.round(4))
print(arima.model.ARIMA(y.cumsum(), order=(1, 1, 0)).fit().params.round(2), holtwinters.SimpleExpSmoothing(y, initialization_method="estimated").fit(0.3).forecast(1).round(6))
