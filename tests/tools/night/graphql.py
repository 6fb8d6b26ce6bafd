"""GraphQL calls of the Dagster UI."""

from __future__ import annotations

LAUNCH = """
mutation ($given: ExecutionParams!) {
  launchRun(executionParams: $given) {
    __typename ... on LaunchRunSuccess {run {runId}} ... on PythonError {message}
    ... on RunConfigValidationInvalid {errors {message}} ... on PipelineNotFoundError {message}
  }
}
"""
BACKFILL = """
mutation ($given: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $given) {
    __typename ... on LaunchBackfillSuccess {backfillId} ... on PythonError {message}
  }
}
"""
REEXECUTE = """
mutation ($given: ReexecutionParams!) {
  launchRunReexecution(reexecutionParams: $given) {
    __typename ... on LaunchRunSuccess {run {runId}} ... on PythonError {message}
  }
}
"""
RUNS = """
{runsOrError(limit: 1000) {... on Runs {results {
  runId status jobName startTime endTime creationTime tags {key value}}}}}
"""
PARTITIONS = "{assetNodes {assetKey {path} partitionStats {numPartitions numMaterialized numFailed}}}"
NIGHTLY = {"repositoryLocationName": "brokerbi", "repositoryName": "__repository__", "jobName": "nightly"}
