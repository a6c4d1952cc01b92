import type { Stats } from 'quarterdeck/client'
import { Badge, type Tone } from '../../parts/Badge.tsx'
import { DataTable } from '../../parts/DataTable.tsx'
import { Panel } from '../../parts/Page.tsx'
import { duration } from '../../parts/Time.tsx'
import { byteWord, fullCount } from '../../words.ts'
import styles from './Servers.module.css'

type Server = Stats['replicas'][number]

const states: Readonly<Record<Server['state'], readonly [word: string, tone: Tone]>> = {
  initializing: ['Starts', 'neutral'],
  ready: ['Works', 'good'],
  running: ['Works', 'good'],
  shutting_down: ['Stops', 'warn'],
  stopped: ['Stopped', 'neutral'],
}

/** The servers on one database. One that has died is in the list for up to ten seconds more. */
export function Servers({ servers }: { servers: Stats['replicas'] }) {
  return (
    <Panel title="Servers on this database" isFlush>
      <DataTable
        label="Servers"
        // Always in the same order: another one answers each time.
        rows={servers.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))}
        keyOf={({ id }) => id}
        columns={[
          { name: 'Server', cell: (server) => <bdi>{nameOf(server)}</bdi> },
          {
            name: 'State',
            cell: ({ state, is_this }) => (
              <div className={styles.state}>
                <Badge tone={states[state][1]}>{states[state][0]}</Badge>
                {is_this && <span className={styles.answered}>answered this page</span>}
              </div>
            ),
          },
          { name: 'Version', cell: ({ version }) => <bdi>{version}</bdi>, isMinor: true },
          { name: 'Up for', cell: ({ uptime_seconds }) => duration(uptime_seconds * 1_000), isNumber: true },
          { name: 'Runs', cell: ({ runs }) => fullCount(runs.active), isNumber: true },
          { name: 'Streams', cell: ({ streams }) => fullCount(streams), isNumber: true, isMinor: true },
          { name: 'Memory', cell: ({ memory }) => byteWord(memory.rss), isNumber: true, isMinor: true },
        ]}
      />
    </Panel>
  )
}

const nameOf = ({ machine, port }: Server): string => (port === null ? machine : `${machine}:${port}`)
