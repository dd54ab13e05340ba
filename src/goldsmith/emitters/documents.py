"""The GraphQL documents that checks of pushes send, to Monte Carlo or to our own gateway."""

from __future__ import annotations

TABLE = """
query($f:String,$d:UUID){getTable(fullTableId:$f,dwId:$d){mcon fullTableId isDeleted ingestType
  ingestInvocationId versions(first:1){edges{node{timestamp
  fields(first:500){edges{node{name fieldType}}}}}}
  thresholds{freshness{status reason lastUpdate} size{metric ucsStatus sdStatus}}}}
"""
METRICS = """
query($m:String!,$n:String!,$s:DateTime!,$e:DateTime){getMetricsV4(metricName:$n,startTime:$s,
  endTime:$e,metricsFilter:{mcon:$m}){metrics{metric value measurementTimestamp} metricsJson}}
"""
LINEAGE = """
query($m:String!,$w:String!){getTableLineage(mcon:$m,direction:$w,hops:1){
  connectedNodes{mcon displayName objectType} flattenedEdges{mcon directlyConnectedMcons}}}
"""
COLUMNS = """
query($m:String!,$c:String!){getDerivedTablesPartialLineage(mcon:$m,column:$c,pageSize:1000){
  destinations{mcon displayName columns{columnName}} isLastPage cursor}}
"""
QUERIES = """
query($m:String!,$s:DateTime!,$e:DateTime!,$c:String){getAggregatedQueries(mcon:$m,queryType:read,
  startTime:$s,endTime:$e,limit:100,endCursor:$c){aggregatedQueries{queryHash count
  latestQueryTimestamp} pageInfo{hasNextPage endCursor}}}
"""
CREATE_NODE = """
mutation($t:String!,$o:String!,$r:UUID,$n:String,$e:DateTime){createOrUpdateLineageNode(
  objectType:$t,objectId:$o,resourceId:$r,name:$n,expireAt:$e){node{mcon displayName objectType}}}
"""
CREATE_EDGE = """
mutation($s:NodeInput!,$d:NodeInput!,$e:DateTime){createOrUpdateLineageEdge(source:$s,
  destination:$d,expireAt:$e){edge{expireAt isCustom source{mcon} destination{mcon}}}}
"""
DELETE_NODE = """
mutation($m:String!){deleteLineageNode(mcon:$m){objectsDeleted nodesDeleted edgesDeleted}}
"""
DELETE_TABLES = """
mutation($m:[String!]!){deletePushIngestedTables(mcons:$m){success deletedCount}}
"""
USER = "query{getUser{email account{uuid}}}"
