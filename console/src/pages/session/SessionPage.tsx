import { ClientError } from 'quarterdeck/client'
import { lazy, Suspense, useMemo } from 'react'
import { Link, Redirect, useSearch, useSearchParams } from 'wouter'
import { useTitle } from '../../app/title.ts'
import { useSessionId } from '../../data/session-id.ts'
import { SessionsIcon } from '../../parts/icons.ts'
import { Page } from '../../parts/Page.tsx'
import { Empty, Failed, Loading } from '../../parts/States.tsx'
import { type Tab, Tabs } from '../../parts/Tabs.tsx'
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
  const { data: id, error, refetch } = useSessionId(reference)
  const search = useSearch()
  if (error !== null) return <NotFound error={error} onRetry={() => void refetch()} />
  if (id === undefined) {
    return (
      <Page title="Session">
        <Loading />
      </Page>
    )
  }
  if (id === null) return <NothingYet />
  if (id !== reference) return <Redirect to={`/sessions/${id}${search === '' ? '' : `?${search}`}`} replace />
  return <KnownSession id={id} />
}

function KnownSession({ id }: { id: string }) {
  const { data, error, refetch } = useSession(id)
  // The server names a session of one's own by its name.
  const session = useMemo(() => (data === undefined ? undefined : { ...data, session_id: id }), [data, id])
  const [params] = useSearchParams()
  const title = session === undefined ? 'Session' : sessionTitle(session)
  useTitle(title)
  if (error !== null && session === undefined) return <NotFound error={error} onRetry={() => void refetch()} />
  const offered = views.filter(({ isSupervised }) => !isSupervised || session?.kind === 'supervised')
  const view = offered.find((one) => one.id === params.get('view')) ?? views[0]
  const tabs: Tab[] = offered.map((one) => ({
    ...one,
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
        {session === undefined ? <Loading /> : <view.Tab key={view.id} session={session} />}
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

function NotFound({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const isGone = error instanceof ClientError && (error.code === 'session_not_found' || error.code === 'malformed_id')
  return (
    <Page title="Session">
      {isGone ? (
        <Empty title="There is no such session" icon={<SessionsIcon />}>
          <p>It was deleted, or its address is wrong.</p>
          <Link href="/sessions">All sessions</Link>
        </Empty>
      ) : (
        <Failed error={error} onRetry={onRetry} />
      )}
    </Page>
  )
}
