import { useQuery } from '@tanstack/react-query'
import type { CheckpointChanges } from 'quarterdeck/client'
import { useClient } from '../../../data/server.tsx'
import { Badge } from '../../../parts/Badge.tsx'
import { Button } from '../../../parts/Button.tsx'
import { formatBytes } from '../../../parts/bytes.ts'
import { DiffView } from '../../../parts/diff/DiffView.tsx'
import { DoneIcon, FileIcon } from '../../../parts/icons.ts'
import { Empty, Pending } from '../../../parts/States.tsx'
import { counted, fullCount } from '../../../words.ts'
import { FileName, FilePanes } from './FilePanes.tsx'

type ChangedFile = CheckpointChanges['files'][number]

const idOf = ({ path }: ChangedFile): string => path
const words = { modified: 'Modified', deleted: 'Deleted', added: 'Added' } as const
const tones = { modified: 'neutral', deleted: 'bad', added: 'good' } as const

interface SinceProps {
  checkpointId: string
  chosen: string | null
  onChoose: (path: string | null) => void
}

/** What differs between a checkpoint and the workspace now. It is read once: reading all files takes a while. */
export function SinceCheckpoint({ checkpointId, chosen, onChoose }: SinceProps) {
  const client = useClient()
  const changes = useQuery({
    queryKey: ['checkpoint', checkpointId, 'changes'],
    queryFn: ({ signal }) => client.checkpoints.changes(checkpointId, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const { data, refetch, isFetching } = changes
  if (data === undefined) return <Pending query={changes} rows={6} height={52} />
  const again = (
    <Button kind="quiet" isBusy={isFetching} onClick={() => void refetch()}>
      Compare again
    </Button>
  )
  const { counts, files } = data
  const all = counts.modified + counts.deleted + counts.added
  if (all === 0) {
    return (
      <Empty title="Nothing has changed since" icon={<DoneIcon />}>
        {counts.unknown > 0 && <p>{counted(counts.unknown, 'file')} could not be read, so nobody knows about them.</p>}
        {again}
      </Empty>
    )
  }
  return (
    <FilePanes
      items={files}
      idOf={idOf}
      label="Changed files"
      head={
        <>
          {counted(all, 'file')}
          {all > files.length && `, the first ${fullCount(files.length)} here`}
          {counts.unknown > 0 && `, ${fullCount(counts.unknown)} unreadable`} {again}
        </>
      }
      chosen={chosen}
      onChoose={onChoose}
      row={({ path, change, bytes_then, bytes_now }) => (
        <>
          <FileName path={path} about={sizes(bytes_then, bytes_now)} />
          <Badge tone={tones[change]}>{words[change]}</Badge>
        </>
      )}
    >
      {({ path }) => <FileDiff key={path} checkpointId={checkpointId} path={path} />}
    </FilePanes>
  )
}

function sizes(then: number | null, now: number | null): string {
  if (then === null || now === null) return formatBytes(then ?? now ?? 0)
  return then === now ? formatBytes(now) : `${formatBytes(then)} → ${formatBytes(now)}`
}

function FileDiff({ checkpointId, path }: { checkpointId: string; path: string }) {
  const client = useClient()
  const diff = useQuery({
    queryKey: ['checkpoint', checkpointId, 'diff', path],
    queryFn: ({ signal }) => client.checkpoints.diff(checkpointId, path, { signal }),
    staleTime: 0,
  })
  const { data } = diff
  if (data === undefined || diff.error !== null) return <Pending query={diff} rows={8} height={20} />
  if (data.shown_diff === null) {
    return (
      <Empty title="No difference to show" icon={<FileIcon />}>
        {data.why_not}
      </Empty>
    )
  }
  if (data.change === 'same') {
    return (
      <Empty title="The content is the same" icon={<DoneIcon />}>
        At most the mode of the file differs.
      </Empty>
    )
  }
  return <DiffView text={data.shown_diff} label={`Difference in ${path}`} />
}
