import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { KnowledgeIndex } from 'quarterdeck/client'
import { useState } from 'react'
import { useClient } from '../../data/server.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { announce } from '../../parts/Announcer.tsx'
import { Notice } from '../../parts/approval/Notice.tsx'
import { ErrorNotice } from '../../parts/approval/Problem.tsx'
import { Badge } from '../../parts/Badge.tsx'
import { Button } from '../../parts/Button.tsx'
import { Confirm } from '../../parts/Confirm.tsx'
import { Fact, Panel } from '../../parts/Page.tsx'
import { Failed } from '../../parts/States.tsx'
import { Time } from '../../parts/Time.tsx'
import { useAction } from '../../parts/use-action.ts'
import { VisibleText } from '../../parts/VisibleText.tsx'
import { counted, fullCount, sentence, statusTone, statusWord } from '../../words.ts'
import { DocumentSearch } from './DocumentSearch.tsx'
import styles from './Documents.module.css'

const LOOK_MS = 5_000
const INDEXING_LOOK_MS = 2_000
/** More problems than this are folded. */
const SHOWN_PROBLEMS = 5

/** The documents that an agent searches. Nothing for an agent without any. */
export function Documents({ agent }: { agent: string }) {
  const client = useClient()
  const ownIn = (all: readonly KnowledgeIndex[]) =>
    all.filter(({ used_by }) => used_by.some((one) => one.agent === agent))
  const { data, error, refetch } = useQuery({
    queryKey: ['knowledge'],
    queryFn: ({ signal }) => client.knowledge.list({ signal }),
    refetchInterval({ state }) {
      const own = ownIn(state.data ?? [])
      if (own.length === 0) return false
      return own.some((one) => one.state === 'indexing') ? INDEXING_LOOK_MS : LOOK_MS
    },
  })
  if (data === undefined && error === null) return null
  const own = ownIn(data ?? [])
  if (data !== undefined && own.length === 0) return null
  return (
    <Panel title="Documents" isFlush>
      {data === undefined ? (
        <Failed error={error} onRetry={() => void refetch()} />
      ) : (
        <ul>
          {own.map((index) => (
            <li key={index.id} className={styles.index}>
              <Index index={index} agent={agent} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

export function Index({ index, agent }: { index: KnowledgeIndex; agent: string }) {
  const { id, used_by, sources, embedding, state, why, progress, files, passages, embedded, updated_at } = index
  const { problems, problem_count } = index
  const client = useClient()
  const queries = useQueryClient()
  const isLive = useIsLive()
  const { isBusy, error, run } = useAction()
  const [isClearing, setClearing] = useState(false)
  const tools = used_by.flatMap((one) => (one.agent === agent ? [one.tool] : []))
  const update = () =>
    run(async () => {
      await client.knowledge.update(id)
      announce('It looks for changes')
      await queries.invalidateQueries({ queryKey: ['knowledge'] })
    })
  return (
    <>
      <header className={styles.head}>
        <h3>
          <code>
            <bdi>{tools.join(', ')}</bdi>
          </code>{' '}
          <Badge tone={statusTone(state)}>{statusWord(state)}</Badge>
        </h3>
        <div className={styles.actions}>
          <Button isBusy={isBusy} disabled={!isLive} onClick={() => void update()}>
            Look for changes
          </Button>
          <Button disabled={!isLive || isBusy} onClick={() => setClearing(true)}>
            Clear and read again
          </Button>
        </div>
      </header>
      {progress !== null && <Progress progress={progress} />}
      {why !== null && (
        <Notice tone={state === 'failed' ? 'bad' : 'warn'}>
          <VisibleText text={why} isRaw />
        </Notice>
      )}
      <ErrorNotice error={error} />
      <dl className={styles.facts}>
        <Fact name="Sources">
          {sources.map((source) => (
            <code key={source} className={styles.source}>
              <VisibleText text={source} inline isRaw />
            </code>
          ))}
        </Fact>
        <Fact name="Files">{fullCount(files)}</Fact>
        <Fact name="Passages">{fullCount(passages)}</Fact>
        <Fact name="Embedded">
          {embedding === null ? (
            'No: passages are found by their words'
          ) : (
            <>
              {fullCount(embedded ?? 0)}, with <bdi>{embedding}</bdi>
            </>
          )}
        </Fact>
        <Fact name="All files read">{updated_at === null ? 'Not yet' : <Time at={updated_at} />}</Fact>
      </dl>
      {problem_count > 0 && <Problems problems={problems} count={problem_count} />}
      <DocumentSearch agent={agent} tool={tools[0] ?? ''} />
      {isClearing && (
        <Confirm
          title="Clear and read again?"
          verb="Clear and read again"
          done="It is cleared, and read again"
          stale={['knowledge']}
          act={async () => {
            await client.knowledge.clear(id)
            await client.knowledge.update(id)
          }}
          onClose={() => setClearing(false)}
        >
          <ClearWords index={index} />
        </Confirm>
      )}
    </>
  )
}

export function ClearWords({ index: { files, passages, embedding, used_by } }: { index: KnowledgeIndex }) {
  const agents = [...new Set(used_by.map(({ agent }) => agent))]
  return (
    <>
      <p>
        Everything that was read is removed, and {counted(files, 'file')} {files === 1 ? 'is' : 'are'} read again. Until
        then <bdi>{agents.join(', ')}</bdi> will not find all that the files say.
      </p>
      {embedding !== null && (
        <p>
          {counted(passages, 'passage')} {passages === 1 ? 'is' : 'are'} embedded again with <bdi>{embedding}</bdi>.
          That costs as much as the first time.
        </p>
      )}
    </>
  )
}

function Progress({ progress: { done, total, phase } }: { progress: NonNullable<KnowledgeIndex['progress']> }) {
  const words = `${sentence(phase)}: ${fullCount(done)} of ${fullCount(total)}`
  return (
    <p className={styles.progress}>
      {words}
      <progress value={done} max={Math.max(1, total)} aria-label={words} />
    </p>
  )
}

/** Files that the agent does not find, or not whole. */
function Problems({ problems, count }: { problems: KnowledgeIndex['problems']; count: number }) {
  const list = (
    <ul className={styles.problems}>
      {problems.map(({ file, why }) => (
        <li key={file}>
          <VisibleText text={file} inline isRaw />
          <span className={styles.why}>
            <VisibleText text={why} inline isRaw />
          </span>
        </li>
      ))}
      {count > problems.length && <li>And {fullCount(count - problems.length)} more.</li>}
    </ul>
  )
  const title = `${counted(count, 'file')} could not be read, or not as a whole`
  return problems.length > SHOWN_PROBLEMS ? (
    <details>
      <summary>{title}</summary>
      {list}
    </details>
  ) : (
    <div>
      <p>{title}</p>
      {list}
    </div>
  )
}
