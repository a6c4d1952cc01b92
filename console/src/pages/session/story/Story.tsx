import type { Session } from 'quarterdeck/client'
import { useLayoutEffect, useMemo, useRef, useState } from 'react'
import { Link } from 'wouter'
import type { ToolItem, TranscriptItem } from '../../../data/transcript.ts'
import { Button } from '../../../parts/Button.tsx'
import { CutText } from '../../../parts/CutText.tsx'
import {
  ChangeIcon,
  ChatIcon,
  CheckpointIcon,
  HandOverIcon,
  PlayIcon,
  StopIcon,
  TaskIcon,
  ToolIcon,
  WaitIcon,
  WarningIcon,
} from '../../../parts/icons.ts'
import { Fold } from '../../../parts/transcript/Fold.tsx'
import { ItemView } from '../../../parts/transcript/ItemView.tsx'
import { OpenRowsContext, useIsOpen } from '../../../parts/transcript/open-rows.ts'
import { argumentLine, withoutSecrets } from '../../../parts/transcript/pretty-json.ts'
import QuestionLine from '../../../parts/transcript/QuestionLine.tsx'
import { type RowsHandle, VirtualRows } from '../../../parts/VirtualRows.tsx'
import { counted } from '../../../words.ts'
import styles from './Story.module.css'
import { type Calls, type Line, type StoryRow, storyOf, workWords } from './story.ts'

interface StoryProps {
  session: Session
  items: readonly TranscriptItem[]
  hasEarlier: boolean
  onEarlier: () => void
  /** Key of an item that is brought into sight. */
  goTo: string | null
}

const keyOf = ({ key }: StoryRow): string => key

/** What a supervised agent did, as a story. It opens at its end. */
export default function Story({ session, items, hasEarlier, onEarlier, goTo }: StoryProps) {
  const told = useMemo(() => storyOf(items), [items])
  const rows = useMemo(() => (hasEarlier ? told : [startOf(session), ...told]), [told, hasEarlier, session])
  const opened = useRef(new Map<string, boolean>())
  const handle = useRef<RowsHandle>(null)
  const wanted = goTo === null ? -1 : rows.findIndex((row) => holds(row, goTo))
  const wantedKey = rows[wanted]?.key
  if (wantedKey !== undefined && !opened.current.has(wantedKey)) opened.current.set(wantedKey, true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when it opens, or somebody wants another place
  useLayoutEffect(() => {
    if (wanted !== -1) handle.current?.scrollToIndex(wanted, 'center')
  }, [wantedKey])
  return (
    <OpenRowsContext value={opened.current}>
      <div className={styles.story}>
        <VirtualRows
          ref={handle}
          items={rows}
          keyOf={keyOf}
          rowHeight={40}
          label="What the agent did"
          keepsPlace
          followsEnd={goTo === null}
          onStart={hasEarlier ? onEarlier : undefined}
        >
          {(row) => (
            <div className={styles.row} data-wanted={row.key === wantedKey || undefined}>
              <Link className={styles.time} href={logLink(session.session_id, row.seq)} title="Show it in the log">
                {row.at === null ? 'Log' : clock.format(row.at)}
              </Link>
              <div className={styles.what}>
                <Row row={row} sessionId={session.session_id} />
              </div>
            </div>
          )}
        </VirtualRows>
      </div>
    </OpenRowsContext>
  )
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

const logLink = (sessionId: string, seq: number): string =>
  `/sessions/${encodeURIComponent(sessionId)}?view=log&seq=${seq}`

const startOf = ({ created_at, supervision }: Session): Line => ({
  key: 'start',
  seq: 1,
  at: Date.parse(created_at),
  type: 'line',
  about: 'start',
  words: `${supervision?.host ?? 'The agent'} begins in ${supervision?.workspace_root ?? 'its folder'}.`,
  quote: null,
})

const holds = (row: StoryRow, key: string): boolean =>
  row.key === key || (row.type === 'calls' && row.calls.some((call) => call.key === key))

const icons = {
  start: PlayIcon,
  file: ChangeIcon,
  note: ChatIcon,
  progress: TaskIcon,
  person: HandOverIcon,
  wait: WaitIcon,
  warning: WarningIcon,
  checkpoint: CheckpointIcon,
  end: StopIcon,
} as const

function Row({ row, sessionId }: { row: StoryRow; sessionId: string }) {
  switch (row.type) {
    case 'line':
      return <LineRow {...row} />
    case 'question':
      return (
        <>
          <LineRow about="wait" words={row.words} quote={null} />
          <QuestionLine interrupt={row.interrupt} />
        </>
      )
    case 'calls':
      return <CallsRow row={row} sessionId={sessionId} />
    case 'other':
      return <ItemView item={row.item} isDocked={false} isLastOfTurn={false} isNewest={false} />
  }
}

function LineRow({ about, words, quote }: Pick<Line, 'about' | 'words' | 'quote'>) {
  const Icon = icons[about]
  return (
    <>
      <p className={styles.line} data-about={about}>
        <Icon aria-hidden="true" />
        <span>{words}</span>
      </p>
      {quote !== null && (
        <blockquote className={styles.quote}>
          <CutText text={quote} first={2_000} />
        </blockquote>
      )}
    </>
  )
}

/** At first, and with each press. */
const AT_ONCE = 50

/** Calls that say little each. The log has all of each. */
function CallsRow({ row: { key, calls }, sessionId }: { row: Calls; sessionId: string }) {
  const [isOpen, setOpen] = useIsOpen(key)
  const [shown, setShown] = useState(AT_ONCE)
  const words = useMemo(() => workWords(calls), [calls])
  const left = calls.length - shown
  return (
    <Fold icon={<ToolIcon />} title={words} end={counted(calls.length, 'call')} isOpen={isOpen} onToggle={setOpen}>
      <ul className={styles.calls}>
        {calls.slice(0, shown).map((call) => (
          <Call key={call.key} call={call} sessionId={sessionId} />
        ))}
      </ul>
      {left > 0 && <Button onClick={() => setShown(shown + AT_ONCE)}>Show more of {counted(left, 'call')}</Button>}
    </Fold>
  )
}

function Call({ call: { name, args, seq }, sessionId }: { call: ToolItem; sessionId: string }) {
  return (
    <li>
      <Link href={logLink(sessionId, seq)}>
        <code>{name === '' ? 'A call' : name}</code>
      </Link>
      <bdi className={styles.args}>{argumentLine(withoutSecrets(args))}</bdi>
    </li>
  )
}
