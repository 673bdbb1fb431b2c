import cv2
import numpy

cv2.setNumThreads(2)
image = numpy.zeros((120, 160, 3), numpy.uint8)
cv2.circle(image, (60, 60), 30, (0, 255, 0), -1)
cv2.putText(image, "cv", (90, 60), cv2.FONT_HERSHEY_SIMPLEX, 1, (255, 0, 0), 2)
gray = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
contours, _ = cv2.findContours(cv2.Canny(gray, 50, 150), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
print(len(contours), int(cv2.GaussianBlur(image, (9, 9), 3).sum()), cv2.resize(image, (40, 30)).shape)
for ending in (".png", ".jpg", ".webp"):
    _, data = cv2.imencode(ending, image)
    print(ending, cv2.imdecode(data, cv2.IMREAD_COLOR).shape)
print(len(cv2.ORB_create(50).detect(gray)) > 0, cv2.warpAffine(gray, cv2.getRotationMatrix2D((80, 60), 30, 1), (160, 120)).shape)
try:
    cv2.cvtColor(image, 9999)
except cv2.error as error:
    print(error.code)
