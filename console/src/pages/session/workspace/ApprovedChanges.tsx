import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { Approval, RecordView } from 'quarterdeck/client'
import { useCallback, useMemo } from 'react'
import { Link } from 'wouter'
import { useClient } from '../../../data/server.tsx'
import { given } from '../../../given.ts'
import { OutcomeBadge } from '../../../parts/Badge.tsx'
import { DiffView } from '../../../parts/diff/DiffView.tsx'
import { useReadLines } from '../../../parts/diff/use-read-lines.ts'
import { FileIcon } from '../../../parts/icons.ts'
import { Empty, How, Pending } from '../../../parts/States.tsx'
import { relativeTime, useNow } from '../../../parts/Time.tsx'
import { counted } from '../../../words.ts'
import styles from './ApprovedChanges.module.css'
import { FileName, FilePanes } from './FilePanes.tsx'

const PAGE = 100
const idOf = ({ approval_id }: Approval): string => approval_id

interface ChangesProps {
  sessionId: string
  chosen: string | null
  onChoose: (id: string | null) => void
}

/** The changes of files that the agent has asked for, newest first, with what became of them. */
export function ApprovedChanges({ sessionId, chosen, onChoose }: ChangesProps) {
  const client = useClient()
  const now = useNow(30_000)
  const query = useInfiniteQuery({
    queryKey: ['session', sessionId, 'changes'],
    queryFn: ({ signal, pageParam }) =>
      client.approvals({
        ...given({ before: pageParam }),
        status: 'all',
        session: sessionId,
        limit: PAGE,
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => (page.length < PAGE ? null : (page.at(-1)?.approval_id ?? null)),
  })
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = query
  const changes = useMemo(() => data?.pages.flat().filter(({ change }) => change !== null) ?? [], [data])
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  if (data === undefined) return <Pending query={query} rows={6} height={52} />
  if (changes.length === 0 && !hasNextPage) {
    return (
      <Empty title="No changes yet" icon={<FileIcon />}>
        <p>When the agent asks whether it may change a file, the change comes here, and stays with its answer.</p>
        <p>To see everything that was done to the files, make a checkpoint and compare with it.</p>
        <How to="write-a-policy" />
      </Empty>
    )
  }
  return (
    <FilePanes
      items={changes}
      idOf={idOf}
      label="Changes"
      head={counted(changes.length, 'change')}
      chosen={chosen}
      onChoose={onChoose}
      onEnd={more}
      row={({ change, view, created_at }) => (
        <>
          <FileName
            path={change?.file_path ?? ''}
            about={[linesOf(change), relativeTime(Date.parse(created_at), now), ...fateOf(view)].join(', ')}
          />
          <OutcomeBadge outcome={view.outcome} />
        </>
      )}
    >
      {(approval) => <ChangeDiff key={approval.approval_id} approval={approval} />}
    </FilePanes>
  )
}

const linesOf = (change: Approval['change']): string => `+${change?.added_lines ?? 0} −${change?.removed_lines ?? 0}`

/** `written`: what has become of it after the yes. */
const fateOf = ({ outcome }: RecordView): string[] => outcome?.facts.map(({ name }) => name.toLowerCase()) ?? []

function ChangeDiff({ approval: { approval_id, change, view } }: { approval: Approval }) {
  const client = useClient()
  const shown = useQuery({
    queryKey: ['approval', approval_id],
    queryFn: ({ signal }) => client.approval(approval_id, { signal }),
  })
  const readLines = useReadLines(approval_id)
  if (shown.data === undefined) return <Pending query={shown} rows={8} height={20} />
  return (
    <>
      <p className={styles.about}>
        <OutcomeBadge outcome={view.outcome} isNamed />
        {view.outcome !== null && view.outcome.more !== '' && <span>{view.outcome.more}</span>}
        <Link href={`/inbox/${approval_id}`}>Show the question</Link>
      </p>
      <DiffView
        text={shown.data.shown_diff ?? ''}
        label={`Change of ${change?.file_path ?? 'a file'}`}
        readLines={readLines}
      />
    </>
  )
}
