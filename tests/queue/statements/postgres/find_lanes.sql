WITH RECURSIVE lane (queue, priority, available_at, id, chain, place) AS (
    SELECT f.queue, f.priority, f.available_at, f.id, 0, 1
    FROM "jobu_jobexecution" f
    WHERE f.id = COALESCE((
            SELECT n.id
            FROM "jobu_jobexecution" n
            WHERE n.status = 'PENDING'
                AND n.aside_until = TIMESTAMPTZ 'epoch'
                AND n.queue = :after_queue
                AND n.priority > :after_priority
            ORDER BY n.priority, n.available_at, n.id
            LIMIT 1 ), (
            SELECT n.id
            FROM "jobu_jobexecution" n
            WHERE n.status = 'PENDING'
                AND n.aside_until = TIMESTAMPTZ 'epoch'
                AND n.queue > :after_queue
            ORDER BY n.queue, n.priority, n.available_at, n.id
            LIMIT 1 ))
    UNION ALL
    SELECT f.queue, f.priority, f.available_at, f.id, lane.chain, lane.place + 1
    FROM lane
    CROSS JOIN LATERAL (SELECT *
        FROM "jobu_jobexecution" f
        WHERE f.id = COALESCE((
                SELECT n.id
                FROM "jobu_jobexecution" n
                WHERE n.status = 'PENDING'
                    AND n.aside_until = TIMESTAMPTZ 'epoch'
                    AND n.queue = lane.queue
                    AND n.priority > lane.priority
                ORDER BY n.priority, n.available_at, n.id
                LIMIT 1 ), (
                SELECT n.id
                FROM "jobu_jobexecution" n
                WHERE n.status = 'PENDING'
                    AND n.aside_until = TIMESTAMPTZ 'epoch'
                    AND n.queue > lane.queue
                ORDER BY n.queue, n.priority, n.available_at, n.id
                LIMIT 1 ))
        OFFSET 0) AS f
    WHERE lane.place < :max_lanes )
SELECT *
FROM (
    SELECT lane.queue, lane.priority, EXTRACT(EPOCH
        FROM lane.available_at - STATEMENT_TIMESTAMP())::float8 AS due_in, CAST(lane.available_at AS text) AS time, lane.id
    FROM lane
    ORDER BY chain, place
    LIMIT :max_lanes ) AS lanes
UNION ALL
SELECT NULL, NULL, (
    SELECT EXTRACT(EPOCH
        FROM n.aside_until - STATEMENT_TIMESTAMP())::float8
    FROM "jobu_jobexecution" n
    WHERE n.status = 'PENDING'
        AND n.aside_until > TIMESTAMPTZ 'epoch'
    ORDER BY n.aside_until
    LIMIT 1 ), NULL, NULL;

WITH RECURSIVE lane (queue, priority, available_at, id, chain, place) AS (
    SELECT f.queue, f.priority, f.available_at, f.id, 0, 1
    FROM "jobu_jobexecution" f
    WHERE f.id = (
        SELECT n.id
        FROM "jobu_jobexecution" n
        WHERE n.status = 'PENDING'
            AND n.aside_until = TIMESTAMPTZ 'epoch'
            AND n.queue = :queue
            AND n.priority > :after_priority
        ORDER BY n.priority, n.available_at, n.id
        LIMIT 1 )
    UNION ALL
    SELECT f.queue, f.priority, f.available_at, f.id, lane.chain, lane.place + 1
    FROM lane
    CROSS JOIN LATERAL (SELECT *
        FROM "jobu_jobexecution" f
        WHERE f.id = (
            SELECT n.id
            FROM "jobu_jobexecution" n
            WHERE n.status = 'PENDING'
                AND n.aside_until = TIMESTAMPTZ 'epoch'
                AND n.queue = lane.queue
                AND n.priority > lane.priority
            ORDER BY n.priority, n.available_at, n.id
            LIMIT 1 )
        OFFSET 0) AS f
    WHERE lane.place < :max_lanes )
SELECT *
FROM (
    SELECT lane.queue, lane.priority, EXTRACT(EPOCH
        FROM lane.available_at - STATEMENT_TIMESTAMP())::float8 AS due_in, CAST(lane.available_at AS text) AS time, lane.id
    FROM lane
    ORDER BY chain, place
    LIMIT :max_lanes ) AS lanes
UNION ALL
SELECT NULL, NULL, (
    SELECT EXTRACT(EPOCH
        FROM n.aside_until - STATEMENT_TIMESTAMP())::float8
    FROM "jobu_jobexecution" n
    WHERE n.status = 'PENDING'
        AND n.aside_until > TIMESTAMPTZ 'epoch'
    ORDER BY n.aside_until
    LIMIT 1 ), NULL, NULL;
