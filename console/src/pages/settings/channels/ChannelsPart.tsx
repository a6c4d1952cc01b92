import { useQuery } from '@tanstack/react-query'
import type { Channel } from 'quarterdeck/client'
import { type FormEvent, useId, useState } from 'react'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { Badge } from '../../../parts/Badge.tsx'
import { Button } from '../../../parts/Button.tsx'
import { Dialog } from '../../../parts/Dialog.tsx'
import { TextField } from '../../../parts/Field.tsx'
import { ChannelIcon } from '../../../parts/icons.ts'
import { Time } from '../../../parts/Time.tsx'
import { VisibleText } from '../../../parts/VisibleText.tsx'
import { ActionError, useAction } from '../ActionError.tsx'
import { Facts, Row, Rows } from '../Rows.tsx'
import { Loaded, None, Section } from '../Section.tsx'

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

/** For a receiver that has lost something: the same messages once more, with the ids that they had. */
function Replay({ name, onClose }: { name: string; onClose: () => void }) {
  const client = useClient()
  const isLive = useIsLive()
  const [after, setAfter] = useState('f.0')
  const [result, setResult] = useState<{ replayed: number; has_more: boolean } | null>(null)
  const { isBusy, error, run } = useAction()
  const form = useId()

  function replay(event: FormEvent): void {
    event.preventDefault()
    if (!isLive || after.trim() === '') return
    void run(async () => {
      const answer = await client.channels.replay(name, after.trim())
      setResult(answer)
      setAfter(answer.cursor)
    })
  }
  return (
    <Dialog
      title={`Send again to ${name}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button kind="primary" type="submit" form={form} isBusy={isBusy} disabled={!isLive || after.trim() === ''}>
            {result?.has_more ? 'Go on' : 'Send again'}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={replay}>
        <TextField
          label="Everything after"
          help="The id of the last message that arrived, such as f.12. With f.0 everything that is still known."
          value={after}
          autoFocus
          onChange={({ target }) => setAfter(target.value)}
        />
      </form>
      {result !== null && (
        <p role="status">
          {result.replayed === 1 ? '1 message is' : `${result.replayed} messages are`} sent again.{' '}
          {result.has_more ? 'There are more: go on in a moment.' : 'That is all.'}
        </p>
      )}
      <ActionError error={error} />
    </Dialog>
  )
}
