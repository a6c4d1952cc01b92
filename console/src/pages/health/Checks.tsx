import type { Health } from 'quarterdeck/client'
import { Badge } from '../../parts/Badge.tsx'
import { Command } from '../../parts/Command.tsx'
import { DataTable } from '../../parts/DataTable.tsx'
import { duration } from '../../parts/Time.tsx'
import { VisibleText } from '../../parts/VisibleText.tsx'
import { adviceOf, checkName } from './advice.ts'
import styles from './Checks.module.css'

/** Each part that the server needs: whether it works, how quickly it answered, and what to do if it does not. */
export function Checks({ checks, isShared }: { checks: NonNullable<Health['checks']>; isShared: boolean | null }) {
  return (
    <DataTable
      label="Checks"
      rows={Object.entries(checks)}
      keyOf={([name]) => name}
      columns={[
        { name: 'Part', cell: ([name]) => <bdi>{checkName(name)}</bdi> },
        {
          name: 'State',
          cell: ([name, { status, error }]) => (
            <div className={styles.state}>
              <Badge tone={status === 'up' ? 'good' : 'bad'}>{status === 'up' ? 'Works' : 'Does not work'}</Badge>
              {status === 'down' && (
                <>
                  {error !== undefined && <VisibleText text={error} />}
                  <Advice check={name} isShared={isShared} />
                </>
              )}
            </div>
          ),
        },
        {
          name: 'Answered in',
          cell: ([, { latency_ms }]) =>
            latency_ms === undefined ? '–' : latency_ms < 1 ? '< 1 ms' : duration(latency_ms),
          isNumber: true,
        },
      ]}
    />
  )
}

function Advice({ check, isShared }: { check: string; isShared: boolean | null }) {
  const { text, command } = adviceOf(check, isShared)
  return (
    <p className={styles.advice}>
      {text} {command !== null && <Command>{command}</Command>}
    </p>
  )
}
