import { useQuery } from '@tanstack/react-query'
import type { Channel } from 'quarterdeck/client'
import { useState } from 'react'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { Badge } from '../../../parts/Badge.tsx'
import { Button } from '../../../parts/Button.tsx'
import { ChannelIcon } from '../../../parts/icons.ts'
import { Time } from '../../../parts/Time.tsx'
import { VisibleText } from '../../../parts/VisibleText.tsx'
import { Facts, Row, Rows } from '../Rows.tsx'
import { Loaded, None, Section } from '../Section.tsx'
import { Replay } from './Replay.tsx'

/** Their state changes without an event in the feed. */
const LOOK_MS = 15_000

export function ChannelsPart() {
  const client = useClient()
  const isLive = useIsLive()
  const channels = useQuery({
    queryKey: ['channels'],
    queryFn: ({ signal }) => client.channels.list({ signal }),
    refetchInterval: LOOK_MS,
  })
  const [replayed, setReplayed] = useState<string | null>(null)
  return (
    <Section
      title="Channels"
      about={
        <>
          The ways in which people hear that something waits. They are set up in <code>quarterdeck.yaml</code>.
        </>
      }
    >
      <Loaded query={channels}>
        {(list) =>
          list.length === 0 ? (
            <None>There is only this console.</None>
          ) : (
            <Rows items={list} keyOf={({ name }) => name} label="Channels">
              {(channel) => <ChannelRow channel={channel} isLive={isLive} onReplay={() => setReplayed(channel.name)} />}
            </Rows>
          )
        }
      </Loaded>
      {replayed !== null && <Replay name={replayed} onClose={() => setReplayed(null)} />}
    </Section>
  )
}

interface ChannelRowProps {
  channel: Channel
  isLive: boolean
  onReplay: () => void
}

function ChannelRow({ channel, isLive, onReplay }: ChannelRowProps) {
  const { name, title, set_up, trouble, waiting, missed, last_shown_at } = channel
  return (
    <Row
      icon={<ChannelIcon aria-hidden="true" />}
      title={name}
      badges={
        trouble !== null ? (
          <Badge tone="bad">Reaches nobody</Badge>
        ) : set_up ? (
          <Badge tone="good">Works</Badge>
        ) : (
          <Badge>Not set up</Badge>
        )
      }
      {...(name.startsWith('webhook:')
        ? {
            action: (
              <Button aria-label={`Send again: ${name}`} disabled={!isLive} onClick={onReplay}>
                Send again
              </Button>
            ),
          }
        : {})}
    >
      {trouble !== null && <VisibleText text={trouble} />}
      <Facts>
        <span>{title}</span>{' '}
        <span>
          {last_shown_at === null ? (
            'Has shown nothing since the start'
          ) : (
            <>
              Last shown <Time at={last_shown_at} />
            </>
          )}
        </span>{' '}
        {waiting > 0 && <span>{waiting} to show</span>} {missed > 0 && <span>{missed} missed</span>}
      </Facts>
    </Row>
  )
}
