import type { AuditEntry } from 'quarterdeck/client'
import { useId } from 'react'
import { Link } from 'wouter'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { ClosedIcon, OpenedIcon } from '../../parts/icons.ts'
import { Fact } from '../../parts/Page.tsx'
import { preciseTime, Time } from '../../parts/Time.tsx'
import { rowId } from '../../parts/use-row-keys.ts'
import { VisibleText } from '../../parts/VisibleText.tsx'
import { fullCount } from '../../words.ts'
import { auditKindWord } from './audit-kinds.ts'
import styles from './EntryRow.module.css'

interface EntryRowProps {
  entry: AuditEntry
  isOpen: boolean
  isBroken: boolean
  onToggle: () => void
  onFocus: () => void
}

/** An entry in a line. It unfolds to everything that the trail has about it. */
export function EntryRow({ entry, isOpen, isBroken, onToggle, onFocus }: EntryRowProps) {
  const id = useId()
  return (
    <article className={styles.entry} data-broken={isBroken || undefined}>
      <button
        type="button"
        id={rowId(String(entry.seq))}
        className={styles.line}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={onToggle}
        onFocus={onFocus}
      >
        <span className={styles.arrow}>
          {isOpen ? <OpenedIcon aria-hidden="true" /> : <ClosedIcon aria-hidden="true" />}
        </span>
        <span className={styles.seq}>{fullCount(entry.seq)}</span>
        <span className={styles.kind}>
          {auditKindWord(entry.kind)}
          {isBroken && <strong> · the trail is broken here</strong>}
        </span>
        <bdi className={styles.by}>{entry.by}</bdi>
        <bdi className={styles.about}>{entryLine(entry)}</bdi>
        <span className={styles.at}>{entry.at === null ? '–' : <Time at={entry.at} />}</span>
      </button>
      {isOpen && (
        <div id={id} className={styles.details}>
          <Facts entry={entry} />
        </div>
      )}
    </article>
  )
}

function Facts({ entry }: { entry: AuditEntry }) {
  const approval = approvalOf(entry)
  const known = [
    { name: 'At', text: entry.at === null ? '' : `${preciseTime(Date.parse(entry.at))} (${entry.at})` },
    { name: 'Kind', text: entry.kind },
    { name: 'By', text: entry.by },
    { name: 'Agent', text: entry.agent },
    { name: 'Tool', text: entry.tool },
    { name: 'Call', text: entry.call_id ?? '' },
    { name: 'Run', text: entry.run_id ?? '' },
    { name: 'Session', text: entry.session_id ?? '' },
  ].filter(({ text }) => text !== '')
  return (
    <>
      <dl className={styles.facts}>
        {known.map(({ name, text }) => (
          <Fact key={name} name={name}>
            <VisibleText text={text} inline />
          </Fact>
        ))}
        {detailRows(entry.details).map(({ name, text }) => (
          <div key={`detail ${name}`}>
            <dt>
              <code>
                <VisibleText text={name} inline />
              </code>
            </dt>
            <dd>{text === '' ? '–' : <VisibleText text={text} inline />}</dd>
          </div>
        ))}
        <div>
          <dt>Hash</dt>
          <dd className={styles.hash}>
            <code>{entry.hash}</code>
            <CopyButton text={entry.hash} what="hash" />
          </dd>
        </div>
      </dl>
      <p className={styles.links}>
        {entry.session_id !== null && (
          <Link href={`/sessions/${encodeURIComponent(entry.session_id)}`}>Open the session</Link>
        )}
        {entry.session_id !== null && (
          <Link href={`/audit?session=${encodeURIComponent(entry.session_id)}`}>Entries of this session</Link>
        )}
        {approval !== null && <Link href={`/inbox/${encodeURIComponent(approval)}`}>Open the approval</Link>}
        <Link href={`/audit?at=${entry.seq}`}>Link to this entry</Link>
      </p>
    </>
  )
}

const shown = ['decision', 'what', 'status', 'name', 'reason', 'rule', 'device', 'label', 'user'] as const

/** The facts of an entry in a line: what it was about, and how it ended. */
export function entryLine({ agent, tool, details }: AuditEntry): string {
  const about = tool !== '' && agent !== '' ? `${agent} → ${tool}` : agent + tool
  const facts = shown.flatMap((name) => {
    const value = details[name]
    return typeof value === 'string' && value !== '' ? [value] : []
  })
  return [about, ...facts].filter((part) => part !== '').join(' · ')
}

export const detailRows = (details: Record<string, unknown>): { name: string; text: string }[] =>
  Object.entries(details).map(([name, value]) => ({
    name,
    text: typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? ''),
  }))

/** The approval that an entry is about, if it names one. */
export function approvalOf({ details }: AuditEntry): string | null {
  const { approval } = details
  return typeof approval === 'string' && approval !== '' ? approval : null
}
