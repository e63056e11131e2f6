(
    SELECT n.queue, n.priority, (TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), n.available_at) / 1e6) AS due_in, CAST(n.available_at AS char) AS time, n.id
    FROM `jobu_jobexecution` n
    WHERE n.status = 'PENDING'
        AND n.aside_until = '1970-01-01 00:00:00'
        AND n.queue = :after_queue
        AND n.priority > :after_priority
    ORDER BY n.priority, n.available_at, n.id
    LIMIT :id )
UNION ALL (
    SELECT n.queue, n.priority, (TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), n.available_at) / 1e6) AS due_in, CAST(n.available_at AS char) AS time, n.id
    FROM `jobu_jobexecution` n
    WHERE n.status = 'PENDING'
        AND n.aside_until = '1970-01-01 00:00:00'
        AND n.queue > :after_queue
    ORDER BY n.queue, n.priority, n.available_at, n.id
    LIMIT :id )
UNION ALL
SELECT NULL, NULL, (
    SELECT (TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), n.aside_until) / 1e6)
    FROM `jobu_jobexecution` n
    WHERE n.status = 'PENDING'
        AND n.aside_until > '1970-01-01 00:00:00'
    ORDER BY n.aside_until
    LIMIT 1 ), NULL, NULL;

(
    SELECT n.queue, n.priority, (TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), n.available_at) / 1e6) AS due_in, CAST(n.available_at AS char) AS time, n.id
    FROM `jobu_jobexecution` n
    WHERE n.status = 'PENDING'
        AND n.aside_until = '1970-01-01 00:00:00'
        AND n.queue = :queue
        AND n.priority > :priority
    ORDER BY n.priority, n.available_at, n.id
    LIMIT :id )
UNION ALL (
    SELECT n.queue, n.priority, (TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), n.available_at) / 1e6) AS due_in, CAST(n.available_at AS char) AS time, n.id
    FROM `jobu_jobexecution` n
    WHERE n.status = 'PENDING'
        AND n.aside_until = '1970-01-01 00:00:00'
        AND n.queue > :queue
    ORDER BY n.queue, n.priority, n.available_at, n.id
    LIMIT :id )
UNION ALL
SELECT NULL, NULL, (
    SELECT (TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), n.aside_until) / 1e6)
    FROM `jobu_jobexecution` n
    WHERE n.status = 'PENDING'
        AND n.aside_until > '1970-01-01 00:00:00'
    ORDER BY n.aside_until
    LIMIT 1 ), NULL, NULL;

(
    SELECT n.queue, n.priority, (TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), n.available_at) / 1e6) AS due_in, CAST(n.available_at AS char) AS time, n.id
    FROM `jobu_jobexecution` n
    WHERE n.status = 'PENDING'
        AND n.aside_until = '1970-01-01 00:00:00'
        AND n.queue = :queue
        AND n.priority > :after_priority
    ORDER BY n.priority, n.available_at, n.id
    LIMIT :id )
UNION ALL
SELECT NULL, NULL, (
    SELECT (TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), n.aside_until) / 1e6)
    FROM `jobu_jobexecution` n
    WHERE n.status = 'PENDING'
        AND n.aside_until > '1970-01-01 00:00:00'
    ORDER BY n.aside_until
    LIMIT 1 ), NULL, NULL;

(
    SELECT n.queue, n.priority, (TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), n.available_at) / 1e6) AS due_in, CAST(n.available_at AS char) AS time, n.id
    FROM `jobu_jobexecution` n
    WHERE n.status = 'PENDING'
        AND n.aside_until = '1970-01-01 00:00:00'
        AND n.queue = :queue
        AND n.priority > :priority
    ORDER BY n.priority, n.available_at, n.id
    LIMIT :id )
UNION ALL
SELECT NULL, NULL, (
    SELECT (TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), n.aside_until) / 1e6)
    FROM `jobu_jobexecution` n
    WHERE n.status = 'PENDING'
        AND n.aside_until > '1970-01-01 00:00:00'
    ORDER BY n.aside_until
    LIMIT 1 ), NULL, NULL;
