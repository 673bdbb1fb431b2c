import confluent_kafka

print(confluent_kafka.libversion()[0])
producer = confluent_kafka.Producer({"bootstrap.servers": "none", "test.mock.num.brokers": 1})
delivered = []
for n in range(10):
    producer.produce("topic", f"value {n}", key=str(n), on_delivery=lambda error, message: delivered.append((message.value(), error)))
print(producer.flush(60), sorted(delivered)[-1], len(delivered))
try:
    confluent_kafka.Consumer({"unknown": 1})
except (confluent_kafka.KafkaException, ValueError) as error:
    print(error)
