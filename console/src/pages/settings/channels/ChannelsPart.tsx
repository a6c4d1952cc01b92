import { useQuery } from '@tanstack/react-query'
import type { Channel } from 'quarterdeck/client'
import { useState } from 'react'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { ErrorNotice } from '../../../parts/approval/Problem.tsx'
import { Badge } from '../../../parts/Badge.tsx'
import { FormDialog } from '../../../parts/Dialog.tsx'
import { TextField } from '../../../parts/Field.tsx'
import { ChannelIcon } from '../../../parts/icons.ts'
import { useAction } from '../../../parts/use-action.ts'
import { VisibleText } from '../../../parts/VisibleText.tsx'
import { Facts, Row, RowAction, Rows, When } from '../Rows.tsx'
import { Section } from '../Section.tsx'

/** Their state changes without an event in the feed. */
const LOOK_MS = 15_000

export function ChannelsPart() {
  const client = useClient()
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
      <Rows query={channels} keyOf={({ name }) => name} label="Channels" none="There is only this console.">
        {(channel) => <ChannelRow channel={channel} onReplay={() => setReplayed(channel.name)} />}
      </Rows>
      {replayed !== null && <Replay name={replayed} onClose={() => setReplayed(null)} />}
    </Section>
  )
}

function ChannelRow({ channel, onReplay }: { channel: Channel; onReplay: () => void }) {
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
      action={
        name.startsWith('webhook:') && (
          <RowAction label={`Send again: ${name}`} onClick={onReplay}>
            Send again
          </RowAction>
        )
      }
    >
      {trouble !== null && <VisibleText text={trouble} />}
      <Facts>
        <span>{title}</span>{' '}
        <When at={last_shown_at} never="Has shown nothing since the start">
          Last shown
        </When>{' '}
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

  const replay = () =>
    run(async () => {
      const answer = await client.channels.replay(name, after.trim())
      setResult(answer)
      setAfter(answer.cursor)
    })
  return (
    <FormDialog
      title={`Send again to ${name}`}
      verb={result?.has_more ? 'Go on' : 'Send again'}
      cancel="Close"
      isReady={isLive && after.trim() !== ''}
      isBusy={isBusy}
      onSend={() => void replay()}
      onClose={onClose}
      problem={
        <>
          {result !== null && (
            <p role="status">
              {result.replayed === 1 ? '1 message is' : `${result.replayed} messages are`} sent again.{' '}
              {result.has_more ? 'There are more: go on in a moment.' : 'That is all.'}
            </p>
          )}
          <ErrorNotice error={error} />
        </>
      }
    >
      <TextField
        label="Everything after"
        help="The id of the last message that arrived, such as f.12. With f.0 everything that is still known."
        value={after}
        autoFocus
        onChange={({ target }) => setAfter(target.value)}
      />
    </FormDialog>
  )
}
