import { useState } from 'react'
import { useIsLive } from '../../data/use-live.tsx'
import { AnswerForm } from './AnswerForm.tsx'
import { CardFrame, CardState, DecisionBar } from './CardFrame.tsx'
import { Warnings } from './Notice.tsx'
import { Problem } from './Problem.tsx'
import { BodyPartView, RecordFacts } from './RecordParts.tsx'
import type { RecordAction } from './record-actions.ts'
import type { RecordKind } from './record-kinds.ts'
import { TextDialog } from './TextDialog.tsx'
import { useDraft, useDropWhen } from './use-draft.ts'
import { useAnswer, useRecord } from './use-record.ts'

interface RecordCardProps {
  kind: RecordKind
  id: string
  /** The person has answered it. */
  onDone?: (() => void) | undefined
}

/** What an agent elsewhere wants: its view, and the answers. */
export function RecordCard({ kind, id, onDone }: RecordCardProps) {
  const record = useRecord(kind, id)
  const { data, dataUpdatedAt } = record
  const [problem, setProblem] = useState<unknown>(null)
  const { answer, busyId } = useAnswer(setProblem)
  const busy = busyId !== null
  const draft = useDraft(id)
  useDropWhen(data !== undefined && data.view.outcome !== null, draft)
  const isLive = useIsLive()
  /** What ends something is asked about before it is sent. */
  const [asking, setAsking] = useState<RecordAction | null>(null)

  async function send(action: RecordAction, text: string): Promise<void> {
    setProblem(null)
    const said = await answer({ kind, id }, action, { text }, action.done)
    if (said === 'open') return
    draft.drop()
    setAsking(null)
    if (said === 'done') onDone?.()
  }
  if (data === undefined) return <CardState query={record} height={240} />
  const { view } = data
  return (
    <>
      <CardFrame
        view={view}
        docked={false}
        asOf={isLive ? null : dataUpdatedAt}
        buttons={
          <DecisionBar
            note={isLive ? null : 'Not connected. You can answer when the server answers again.'}
            draft={draft}
          >
            <AnswerForm
              actions={view.actions}
              isBusy={busy}
              isLive={isLive}
              hasKeys
              draft={draft}
              onAnswer={(action, { text = '' }) => (action.danger ? setAsking(action) : void send(action, text))}
            />
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
          action={asking}
          isBusy={busy}
          isLive={isLive}
          problem={problem}
          draft={draft}
          onSend={(text) => void send(asking, text)}
          onClose={() => setAsking(null)}
        />
      )}
    </>
  )
}
