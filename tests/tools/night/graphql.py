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
CANCEL_BACKFILL = """
mutation ($given: String!) {
  cancelPartitionBackfill(backfillId: $given) {__typename ... on PythonError {message}}
}
"""
BACKFILL_STATUS = """
query ($given: String!) {partitionBackfillOrError(backfillId: $given) {... on PartitionBackfill {status}}}
"""
RUNS = """
{runsOrError(limit: 1000) {... on Runs {results {
  runId status jobName startTime endTime creationTime tags {key value}}}}}
"""
LOG = """
query ($given: ID!) {
  logsForRun(runId: $given) {... on EventConnection {events {... on MessageEvent {message}}}}
}
"""
READY = "{workspaceOrError {... on Workspace {locationEntries {loadStatus}}}}"
PARTITIONS = "{assetNodes {assetKey {path} partitionStats {numPartitions numMaterialized numFailed}}}"


def job(name: str) -> dict[str, str]:
    """Where a job of ours is found."""
    return {"repositoryLocationName": "brokerbi", "repositoryName": "__repository__", "jobName": name}
