import { useState } from 'react'
import { useKeys } from '../../app/Keys.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { Button } from '../Button.tsx'
import { CardFrame, CardState, DecisionBar } from './CardFrame.tsx'
import { Warnings } from './Notice.tsx'
import { Problem } from './Problem.tsx'
import { BodyPartView, RecordFacts } from './RecordParts.tsx'
import { asksFirst, inBar, keyOf, type RecordAction } from './record-actions.ts'
import type { RecordKind } from './record-kinds.ts'
import { TextDialog } from './TextDialog.tsx'
import { useRecord } from './use-record.ts'

/** What an agent elsewhere wants: its view, and the buttons. */
export function RecordCard({ kind, id }: { kind: RecordKind; id: string }) {
  const record = useRecord(kind, id)
  const { data, dataUpdatedAt, busy, problem, answer } = record
  const isLive = useIsLive()
  // The dialog that is open. `needsText`: it was opened to write something.
  const [asking, setAsking] = useState<{ action: RecordAction; needsText: boolean } | null>(null)
  const actions = data?.view.actions ?? []

  async function send(action: RecordAction, text: string): Promise<void> {
    if (await answer(action, text)) setAsking(null)
  }
  function press(action: RecordAction, needsText = action.takes === 'text'): void {
    if (!isLive || busy !== null) return
    if (asksFirst(action)) setAsking({ action, needsText })
    else void send(action, '')
  }
  useKeys(
    actions.flatMap((action) => {
      const keys = keyOf(action)
      if (keys === undefined) return []
      const own = { keys, name: action.label, group: 'Decision', run: () => press(action) }
      const withText = { ...own, keys: 'e', name: `${action.label} with text`, run: () => press(action, true) }
      return action.takes === 'optional_text' ? [own, withText] : [own]
    }),
  )
  if (data === undefined) return <CardState query={record} height={240} />
  const { view } = data
  return (
    <>
      <CardFrame
        view={view}
        docked={false}
        asOf={isLive ? null : dataUpdatedAt}
        buttons={
          <DecisionBar note={isLive ? null : 'Not connected. You can answer when the server answers again.'}>
            {inBar(actions).map((action) => (
              <Button
                key={action.name}
                kind={action.main ? 'primary' : 'plain'}
                hint={keyOf(action)}
                isBusy={busy?.name === action.name}
                disabled={!isLive || busy !== null}
                onClick={() => press(action)}
              >
                {action.label}
              </Button>
            ))}
          </DecisionBar>
        }
      >
        {view.outcome === null && asking === null && <Problem error={problem} />}
        <Warnings texts={view.warnings} />
        {view.body.map((part, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a record never change places
          <BodyPartView key={i} part={part} isMain={i === 0} />
        ))}
        <RecordFacts facts={view.facts} />
      </CardFrame>
      {asking !== null && view.outcome === null && (
        <TextDialog
          {...asking}
          isBusy={busy !== null}
          isLive={isLive}
          problem={problem}
          onSend={(text) => void send(asking.action, text)}
          onClose={() => setAsking(null)}
        />
      )}
    </>
  )
}
