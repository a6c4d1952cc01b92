import type { Channel } from 'quarterdeck/client'
import { Badge } from '../../parts/Badge.tsx'
import { Command } from '../../parts/Command.tsx'
import { DataTable } from '../../parts/DataTable.tsx'
import { Panel } from '../../parts/Page.tsx'
import { Failed, Loading } from '../../parts/States.tsx'
import { Time } from '../../parts/Time.tsx'
import { VisibleText } from '../../parts/VisibleText.tsx'
import { fullCount } from '../../words.ts'
import styles from './Channels.module.css'
import { useChannels } from './use-health.ts'

/** The ways to reach operators: whether somebody is reached there. */
export function Channels() {
  const { data, error, refetch } = useChannels()
  return (
    <Panel title="Channels to operators" isFlush>
      {data === undefined ? (
        error === null ? (
          <Loading rows={2} height={40} />
        ) : (
          <Failed error={error} onRetry={() => void refetch()} />
        )
      ) : data.length === 0 ? (
        <p className={styles.none}>
          None. They tell people what waits, and are set up in <code>quarterdeck.yaml</code>. Begin with{' '}
          <Command>connect slack</Command>.
        </p>
      ) : (
        <DataTable
          label="Channels"
          rows={data}
          keyOf={({ name }) => name}
          columns={[
            { name: 'Channel', cell: ({ name }) => <bdi>{name}</bdi> },
            { name: 'Kind', cell: ({ title }) => title, isMinor: true },
            { name: 'State', cell: (channel) => <ChannelState channel={channel} /> },
            { name: 'To show', cell: ({ waiting }) => fullCount(waiting), isNumber: true, isMinor: true },
            { name: 'Missed', cell: ({ missed }) => fullCount(missed), isNumber: true, isMinor: true },
            {
              name: 'Last shown',
              cell: ({ last_shown_at: at }) => (at === null ? 'not since the start' : <Time at={at} />),
              isNumber: true,
            },
          ]}
        />
      )}
    </Panel>
  )
}

function ChannelState({ channel: { set_up, trouble } }: { channel: Channel }) {
  if (trouble !== null) {
    return (
      <div className={styles.state}>
        <Badge tone="bad">Reaches nobody</Badge>
        <VisibleText text={trouble} />
      </div>
    )
  }
  return set_up ? <Badge tone="good">Works</Badge> : <Badge>Not set up</Badge>
}
