# Flink with the connectors of the job. Its version is pinned: the planner of another one makes another state of the same SQL.
FROM flink:2.1.1-java17
ADD --chmod=644 --checksum=sha256:c7127a6518fba5d6b75eb4692229192e7147ea378e69c7b7cf16d0494057b0c3 \
  https://repo.maven.apache.org/maven2/org/apache/flink/flink-sql-connector-kafka/4.0.1-2.0/flink-sql-connector-kafka-4.0.1-2.0.jar /opt/flink/lib/
ADD --chmod=644 --checksum=sha256:ccb9691bf1d0f97574ae768e1bef05a39c06d7f7b13996e9d485fbdd69dcbfec \
  https://repo.maven.apache.org/maven2/org/apache/flink/flink-connector-jdbc-core/4.0.0-2.0/flink-connector-jdbc-core-4.0.0-2.0.jar /opt/flink/lib/
ADD --chmod=644 --checksum=sha256:b59c29dc65cafe8ae398e69072b9f6022f4a978a09002fd06a05a1a8dd3348d6 \
  https://repo.maven.apache.org/maven2/org/apache/flink/flink-connector-jdbc-postgres/4.0.0-2.0/flink-connector-jdbc-postgres-4.0.0-2.0.jar /opt/flink/lib/
ADD --chmod=644 --checksum=sha256:2a32a9dcbc42d67a50ad3a0de5efd102c8d2be46720045f2cbd6689f160ab7c7 \
  https://repo.maven.apache.org/maven2/org/postgresql/postgresql/42.7.8/postgresql-42.7.8.jar /opt/flink/lib/
# A volume that is mounted there begins with this owner.
RUN install -d -o flink -g flink /flink
