"""Keywords that decide how statements are split and read without a grammar."""

from __future__ import annotations


def keywords(text: str) -> frozenset[str]:
    """The keywords of a text, as a set."""
    return frozenset(text.split())


#: Statements that neither read nor write data of tables.
QUIET = keywords(
    """
    SET GRANT REVOKE COMMIT ROLLBACK BEGIN START END ANALYZE VACUUM COMMENT SHOW DESCRIBE
    DESC LIST LS RM REMOVE DECLARE PRINT REFRESH UNCACHE CACHE CLEAR RESET MSCK OPTIMIZE ADD
    REINDEX CLUSTER LOCK UNLOCK SAVEPOINT RELEASE DISCARD PREPARE DEALLOCATE FETCH CLOSE
    OPEN RAISE RAISERROR THROW IF ELSE WHILE RETURN KILL FLUSH CHECKPOINT PRAGMA ATTACH
    DETACH INSTALL EXPLAIN LET GO DELIMITER SUSPEND RESUME ABORT NOTIFY LISTEN UNLISTEN
    WAITFOR COMPUTE UNSET BREAK CONTINUE GOTO NULL ZORDER RESTORE PURGE AUDIT REPAIR STREAM
    INVALIDATE COMPACT TRUNCATE SECURITY SHUTDOWN HELP SIGNAL ITERATE LEAVE WHENEVER EXIT
    PROMPT SPOOL
    """
)
#: Words that begin a statement that moves or changes data.
DATA_VERBS = keywords(
    """
    SELECT INSERT UPDATE DELETE MERGE WITH CREATE COPY UNLOAD LOAD EXPORT TRUNCATE ALTER
    DROP USE EXECUTE EXEC CALL REPLACE BULK UPSERT FROM RENAME TABLE VALUES PUT GET IMPORT
    EXCHANGE REFRESH APPLY PIVOT UNPIVOT
    """
)
#: Words behind CREATE whose statement a parser reads.
PARSED_KINDS = keywords(
    """
    VIEW MODEL MATERIALIZED RECURSIVE DYNAMIC FORCE NOFORCE MULTISET LIVE STREAMING ALGORITHM
    DEFINER EDITIONABLE SQL DICTIONARY WINDOW HYBRID ICEBERG DIMENSION FACT COLUMN
    REFRESH SET HADOOP SHARDED
    """
)
CONTROL = keywords(
    """
    BEGIN END ELSE THEN LOOP DO REPEAT EXCEPTION TRY CATCH DECLARE AS IS ATOMIC RETURN GO
    ELSEIF ELSIF WHILE IF FOR WHEN SET LET AND UNTIL
    """
)
#: Verbs that begin a new statement on a new line where semicolons are left out.
FRESH_VERBS = keywords(
    """
    INSERT UPDATE DELETE MERGE CREATE DROP TRUNCATE EXEC EXECUTE DECLARE SELECT WITH IF
    BEGIN END PRINT USE ALTER WHILE SET RETURN COMMIT ROLLBACK RAISERROR THROW FETCH OPEN
    CLOSE DEALLOCATE BULK
    """
)
CONTINUING = keywords(
    """
    UNION ALL EXCEPT INTERSECT AS THEN ( , IN EXISTS ON INTO FROM = AND OR NOT DISTINCT FOR
    ANY SOME BY INSERT WITH AFTER BEFORE OF INSTEAD MINUS RETURN ELSE
    """
)
#: Functions that take a unit first (`DATEADD(day, …)`): the unit is no column.
UNITS = keywords(
    """
    year years quarter quarters month months week weeks day days hour hours minute minutes
    second seconds millisecond microsecond nanosecond dayofweek dayofyear dow doy yy yyyy qq
    mm dd wk hh mi ss ms mcs ns epoch isoweek isoyear weekday
    """
)
UNIT_FUNCTIONS = keywords(
    """
    dateadd datediff date_add date_diff datepart date_part datename date_trunc trunc
    timestampadd timestampdiff timediff last_day timestamp_trunc datetime_trunc extract
    dateadd_big datediff_big
    """
)
#: Names that a dialect gives a value to in every query: no column of a table.
PSEUDO_COLUMNS = {
    "oracle": keywords("level rownum sysdate systimestamp user uid connect_by_isleaf"),
}
NO_TABLE = keywords(
    """
    SELECT LATERAL UNNEST TABLE VALUES WITH WHERE SET ON FLATTEN GENERATE_SERIES FIRST NEXT
    IMMEDIATE ONLY
    """
)
