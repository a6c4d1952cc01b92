import { lazy, Suspense, useMemo } from 'react'
import { Link, Redirect, useSearch, useSearchParams } from 'wouter'
import { useTitle } from '../../app/title.ts'
import { isUnknownSession, useSessionId } from '../../data/session-id.ts'
import { SessionsIcon } from '../../parts/icons.ts'
import { Page } from '../../parts/Page.tsx'
import { Empty, Loading, Pending } from '../../parts/States.tsx'
import { type Tab, Tabs } from '../../parts/Tabs.tsx'
import { AgentContext } from '../../parts/transcript/conversation.ts'
import { sessionTitle } from '../../words.ts'
import { SessionActions } from './actions/SessionActions.tsx'
import { SessionFacts } from './SessionFacts.tsx'
import styles from './SessionPage.module.css'
import { useSession } from './use-session.ts'

const TranscriptTab = lazy(() => import('./TranscriptTab.tsx'))
const TimelineTab = lazy(() => import('./timeline/TimelineTab.tsx'))
const LogTab = lazy(() => import('./log/LogTab.tsx'))
const ReplayTab = lazy(() => import('./replay/ReplayTab.tsx'))
const CheckpointsTab = lazy(() => import('./checkpoints/CheckpointsTab.tsx'))
const WorkspaceTab = lazy(() => import('./workspace/WorkspaceTab.tsx'))

const views = [
  { id: 'transcript', name: 'Transcript', Tab: TranscriptTab, isSupervised: false },
  { id: 'timeline', name: 'Timeline', Tab: TimelineTab, isSupervised: false },
  { id: 'log', name: 'Log', Tab: LogTab, isSupervised: false },
  { id: 'replay', name: 'Replay', Tab: ReplayTab, isSupervised: false },
  { id: 'checkpoints', name: 'Checkpoints', Tab: CheckpointsTab, isSupervised: true },
  { id: 'workspace', name: 'Workspace', Tab: WorkspaceTab, isSupervised: true },
] as const

/** A page that was opened by the name of a session goes on at its id. */
export default function SessionPage({ id: reference }: { id: string }) {
  const found = useSessionId(reference)
  const id = found.data
  const search = useSearch()
  if (found.error !== null || id === undefined) return <NotFound query={found} />
  if (id === null) return <NothingYet />
  if (id !== reference) return <Redirect to={`/sessions/${id}${search === '' ? '' : `?${search}`}`} replace />
  return <KnownSession id={id} />
}

function KnownSession({ id }: { id: string }) {
  const query = useSession(id)
  const { data, error } = query
  // The server names a session of one's own by its name.
  const session = useMemo(() => (data === undefined ? undefined : { ...data, session_id: id }), [data, id])
  const [params] = useSearchParams()
  const title = session === undefined ? 'Session' : sessionTitle(session)
  useTitle(title)
  if (error !== null && session === undefined) return <NotFound query={query} />
  const offered = views.filter(({ isSupervised }) => !isSupervised || session?.kind === 'supervised')
  const view = offered.find((one) => one.id === params.get('view')) ?? views[0]
  const tabs: Tab[] = offered.map((one) => ({
    ...one,
    name: one.id === 'transcript' && session?.kind === 'supervised' && !session.hosted ? 'Story' : one.name,
    href: `/sessions/${encodeURIComponent(id)}${one.id === 'transcript' ? '' : `?view=${one.id}`}`,
  }))
  return (
    <Page
      title={<bdi className={styles.title}>{title}</bdi>}
      shape="fill"
      actions={session !== undefined && <SessionActions session={session} />}
      bar={
        <div className={styles.bar}>
          {session === undefined ? <div className={styles.factsPlace} /> : <SessionFacts session={session} />}
          <Tabs label="Views of this session" tabs={tabs} current={view.id} />
        </div>
      }
    >
      <Suspense fallback={<Loading />}>
        <AgentContext value={session?.agent ?? null}>
          {session === undefined ? <Loading /> : <view.Tab key={view.id} session={session} />}
        </AgentContext>
      </Suspense>
    </Page>
  )
}

function NothingYet() {
  return (
    <Page title="Session">
      <Empty title="Nothing has happened yet" icon={<SessionsIcon />}>
        <Link href="/sessions">All sessions</Link>
      </Empty>
    </Page>
  )
}

/** In place of a session: it is on its way, or could not be read, or there is none. */
function NotFound({ query }: { query: { error: unknown; refetch: () => unknown } }) {
  return (
    <Page title="Session">
      {isUnknownSession(query.error) ? (
        <Empty title="There is no such session" icon={<SessionsIcon />}>
          <p>It was deleted, or its address is wrong.</p>
          <Link href="/sessions">All sessions</Link>
        </Empty>
      ) : (
        <Pending query={query} />
      )}
    </Page>
  )
}
