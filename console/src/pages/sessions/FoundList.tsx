import type { SearchResult } from 'quarterdeck/client'
import { useCallback, useMemo, useRef } from 'react'
import { Link } from 'wouter'
import { useKeys } from '../../app/Keys.tsx'
import { useOtherOwner } from '../../data/me.ts'
import { Badge } from '../../parts/Badge.tsx'
import { Button } from '../../parts/Button.tsx'
import { SearchIcon } from '../../parts/icons.ts'
import { Empty, Failed, Loading } from '../../parts/States.tsx'
import { Time } from '../../parts/Time.tsx'
import { rowId, useRowKeys } from '../../parts/use-row-keys.ts'
import { type RowsHandle, VirtualRows } from '../../parts/VirtualRows.tsx'
import { sessionTitle, statusTone, statusWord } from '../../words.ts'
import styles from './FoundList.module.css'
import type { SessionFilters } from './session-filters.ts'
import { useSearchResults } from './use-session-list.ts'

const RESULT_HEIGHT = 128
const idOf = ({ session_id }: SearchResult): string => session_id

/** Sessions in which the words were said, with the places. */
export function FoundList({ filters, onClear }: { filters: SessionFilters; onClear: () => void }) {
  const { data, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useSearchResults(filters)
  const results = useMemo(() => data?.pages.flatMap((page) => page.results) ?? [], [data])
  const isComplete = data?.pages.every((page) => page.complete) ?? true
  const handle = useRef<RowsHandle>(null)
  const keys = useRowKeys(results, idOf, { what: 'session', group: 'Sessions', handle })
  useKeys([...keys.actions, { keys: 'Enter', name: 'Open the session', group: 'Sessions', run: keys.open }])
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  if (isPending) return <Loading rows={6} height={RESULT_HEIGHT} />
  if (error !== null && results.length === 0) return <Failed error={error} onRetry={() => void refetch()} />
  if (results.length === 0 && !hasNextPage) {
    return (
      <Empty title={`Nothing found for “${filters.q.trim()}”`} icon={<SearchIcon />}>
        <p>
          All words have to be in one message. “Quotation marks” hold words together, and a star stands for the rest of
          a word: <code>quart*</code>
        </p>
        {!isComplete && <p>Older sessions are still being indexed, so there may be more in a while.</p>}
        <Button onClick={onClear}>Clear the search</Button>
      </Empty>
    )
  }
  return (
    <div className={styles.list}>
      {!isComplete && (
        <p className={styles.note}>Older sessions are still being indexed. There may be more in a while.</p>
      )}
      <VirtualRows
        ref={handle}
        items={results}
        keyOf={idOf}
        rowHeight={RESULT_HEIGHT}
        label={`Sessions with “${filters.q.trim()}”`}
        onEnd={more}
      >
        {(result) => <Found result={result} onFocus={() => keys.setCurrent(result.session_id)} />}
      </VirtualRows>
    </div>
  )
}

function Found({ result, onFocus }: { result: SearchResult; onFocus: () => void }) {
  const { session_id, agent, owner, status, updated_at, hits } = result
  const other = useOtherOwner(owner)
  return (
    <article className={styles.found}>
      <header className={styles.head}>
        <Link id={rowId(session_id)} href={`/sessions/${session_id}`} className={styles.title} onFocus={onFocus}>
          <bdi>{sessionTitle(result)}</bdi>
        </Link>
        <span className={styles.about}>
          {agent} ·{' '}
          {other !== null && (
            <>
              for <bdi>{other}</bdi> ·{' '}
            </>
          )}
          <Time at={updated_at} />
        </span>
        {status !== 'open' && <Badge tone={statusTone(status)}>{statusWord(status)}</Badge>}
      </header>
      {hits.map((hit) => (
        <Link
          key={hit.message_id ?? 'title'}
          href={`/sessions/${session_id}${hit.message_id === null ? '' : `?message=${encodeURIComponent(hit.message_id)}`}`}
          className={styles.hit}
        >
          <span className={styles.who}>{whoSaid[hit.role]}</span>
          <span className={styles.text}>
            <bdi>
              {markedParts(hit.text, hit.marks).map(({ text, isMarked, from }) =>
                isMarked ? <mark key={from}>{text}</mark> : <span key={from}>{text}</span>,
              )}
            </bdi>
          </span>
        </Link>
      ))}
    </article>
  )
}

const whoSaid: Readonly<Record<SearchResult['hits'][number]['role'], string>> = {
  user: 'User',
  assistant: 'Agent',
  tool: 'Tool',
  title: 'Title',
}

/** A piece of a text; `isMarked`: it was searched for. */
interface MarkedPart {
  text: string
  isMarked: boolean
  from: number
}

/** Splits a text at the marks of the server. Marks that are out of order or out of the text are left out, never the text. */
export function markedParts(text: string, marks: readonly (readonly [number, number])[]): MarkedPart[] {
  const parts: MarkedPart[] = []
  let at = 0
  const add = (to: number, isMarked: boolean): void => {
    if (to > at) parts.push({ text: text.slice(at, to), isMarked, from: at })
    at = Math.max(at, to)
  }
  for (const [from, to] of marks) {
    if (from < at || to <= from || to > text.length) continue
    add(from, false)
    add(to, true)
  }
  add(text.length, false)
  return parts
}
