import { useMutation } from '@tanstack/react-query'
import type { KnowledgeFound } from 'quarterdeck/client'
import { type FormEvent, useState } from 'react'
import { useClient } from '../../data/server.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { Warnings } from '../../parts/approval/Notice.tsx'
import { ErrorNotice } from '../../parts/approval/Problem.tsx'
import { Badge } from '../../parts/Badge.tsx'
import { Button } from '../../parts/Button.tsx'
import { CutText } from '../../parts/CutText.tsx'
import { TextField } from '../../parts/Field.tsx'
import { SearchIcon } from '../../parts/icons.ts'
import { passageWords } from '../../parts/passage-words.ts'
import { VisibleText } from '../../parts/VisibleText.tsx'
import { counted } from '../../words.ts'
import styles from './Documents.module.css'

/** What the tool of an agent would find, and why. */
export function DocumentSearch({ agent, tool }: { agent: string; tool: string }) {
  const client = useClient()
  const isLive = useIsLive()
  const [query, setQuery] = useState('')
  const tried = useMutation({ mutationFn: () => client.knowledge.search({ agent, tool, query }) })
  const isReady = isLive && query.trim() !== ''
  function submit(event: FormEvent): void {
    event.preventDefault()
    if (isReady && !tried.isPending) tried.mutate()
  }
  return (
    <>
      <form className={styles.search} onSubmit={submit} role="search" aria-label={`Documents of ${tool}`}>
        <TextField
          label="Try a search"
          value={query}
          maxLength={1_000}
          dir="auto"
          autoComplete="off"
          onChange={({ target }) => setQuery(target.value)}
        />
        <Button type="submit" icon={<SearchIcon />} disabled={!isReady} isBusy={tried.isPending}>
          Search
        </Button>
      </form>
      <ErrorNotice error={tried.error} />
      {tried.data !== undefined && <Hits found={tried.data} />}
    </>
  )
}

export function Hits({ found: { hits, lacks } }: { found: KnowledgeFound }) {
  return (
    <>
      <Warnings texts={lacks} />
      <p role="status" className={styles.why}>
        {hits.length === 0 ? 'Nothing was found. Try other words.' : counted(hits.length, 'passage')}
      </p>
      {hits.length > 0 && (
        <ol className={styles.hits} aria-label="What was found">
          {hits.map((hit) => (
            <li key={hit.passage.id}>
              <div className={styles.head}>
                <strong>
                  <VisibleText text={passageWords(hit.passage)} inline isRaw />
                </strong>
                <span className={styles.why}>
                  {hit.score !== null && <Badge>{hit.score.toPrecision(3)}</Badge>} {howFound(hit)}
                </span>
              </div>
              <CutText text={hit.passage.text} first={800} />
            </li>
          ))}
        </ol>
      )}
    </>
  )
}

/** `words 1, meaning 3`. */
function howFound({ score, by_words, by_meaning }: KnowledgeFound['hits'][number]): string {
  if (score === null) return 'beside the hit above'
  const ways = [by_words === null ? [] : `words ${by_words}`, by_meaning === null ? [] : `meaning ${by_meaning}`]
  return ways.flat().join(', ')
}
