import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Checkpoint, Session } from 'quarterdeck/client'
import { useState } from 'react'
import { Link } from 'wouter'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { given } from '../../../given.ts'
import { announce } from '../../../parts/Announcer.tsx'
import { Badge } from '../../../parts/Badge.tsx'
import { Button } from '../../../parts/Button.tsx'
import { formatBytes } from '../../../parts/bytes.ts'
import { FormDialog } from '../../../parts/Dialog.tsx'
import { TextField } from '../../../parts/Field.tsx'
import { CheckpointIcon, NewIcon, RetryIcon } from '../../../parts/icons.ts'
import { Empty, Failed, Pending } from '../../../parts/States.tsx'
import { Time } from '../../../parts/Time.tsx'
import { VirtualRows } from '../../../parts/VirtualRows.tsx'
import { counted, statusWord } from '../../../words.ts'
import styles from './CheckpointsTab.module.css'
import { RestoreDialog } from './RestoreDialog.tsx'

const ROW = 64
const MOST = 100
const idOf = ({ checkpoint_id }: Checkpoint): string => checkpoint_id

export function useCheckpoints(sessionId: string) {
  const client = useClient()
  return useQuery({
    queryKey: ['session', sessionId, 'checkpoints'],
    queryFn: ({ signal }) => client.checkpoints.list({ session: sessionId, limit: MOST, signal }),
  })
}

/** The states of the workspace that were kept, and the way back to one. */
export default function CheckpointsTab({ session }: { session: Session }) {
  const checkpoints = useCheckpoints(session.session_id)
  const { data } = checkpoints
  const isLive = useIsLive()
  const [isMaking, setMaking] = useState(false)
  const [chosen, setChosen] = useState<Checkpoint | null>(null)
  const isEnded = session.supervision?.status === 'terminated'
  const make = (
    <Button icon={<NewIcon />} disabled={!isLive || isEnded} onClick={() => setMaking(true)}>
      Make a checkpoint
    </Button>
  )
  return (
    <div className={styles.tab}>
      {data === undefined && <Pending query={checkpoints} rows={5} height={ROW} />}
      {data?.length === 0 && (
        <Empty title="No checkpoints yet" icon={<CheckpointIcon />}>
          <p>A checkpoint keeps the files of the workspace as they are, so that one can come back to them.</p>
          {isEnded ? <p>This session has ended, so no more can be made.</p> : make}
        </Empty>
      )}
      {data !== undefined && data.length > 0 && (
        <>
          <div className={styles.tools}>
            <p className={styles.sum}>
              {counted(data.length, 'checkpoint')}
              {data.length === MOST && ', the newest'}
            </p>
            {make}
          </div>
          <VirtualRows items={data} keyOf={idOf} rowHeight={ROW} label="Checkpoints">
            {(checkpoint) => (
              <CheckpointRow
                checkpoint={checkpoint}
                session={session}
                isLive={isLive}
                onRestore={() => setChosen(checkpoint)}
              />
            )}
          </VirtualRows>
        </>
      )}
      {isMaking && <MakeCheckpointDialog sessionId={session.session_id} onClose={() => setMaking(false)} />}
      {chosen !== null && <RestoreDialog checkpoint={chosen} onClose={() => setChosen(null)} />}
    </div>
  )
}

interface RowProps {
  checkpoint: Checkpoint
  session: Session
  isLive: boolean
  onRestore: () => void
}

function CheckpointRow({ checkpoint, session, isLive, onRestore }: RowProps) {
  const { checkpoint_id, label, files, bytes, created_at, has_contents, session_state } = checkpoint
  const isOrigin = session.supervision?.restored_from === checkpoint_id
  return (
    <div className={styles.row}>
      <div className={styles.what}>
        <p className={styles.label} dir="auto">
          {label ?? 'Without a label'}
          {isOrigin && <Badge tone="accent">This session began here</Badge>}
          {!has_contents && <Badge>Hashes only</Badge>}
        </p>
        <p className={styles.about}>
          <Time at={created_at} /> · {counted(files, 'file')}, {formatBytes(bytes)} · {statusWord(session_state.status)}
          {session_state.last_tool !== null && `, after ${session_state.last_tool}`}
        </p>
      </div>
      <Link
        href={`/sessions/${session.session_id}?view=workspace&checkpoint=${checkpoint_id}`}
        className={styles.compare}
      >
        What has changed since
      </Link>
      <Button
        icon={<RetryIcon />}
        disabled={!isLive || !has_contents}
        title={has_contents ? undefined : 'It has only hashes, so no file can be brought back.'}
        onClick={onRestore}
      >
        Restore…
      </Button>
    </div>
  )
}

function MakeCheckpointDialog({ sessionId, onClose }: { sessionId: string; onClose: () => void }) {
  const client = useClient()
  const queries = useQueryClient()
  const isLive = useIsLive()
  const [label, setLabel] = useState('')
  const [contents, setContents] = useState(true)
  const make = useMutation({
    mutationFn: () => client.sessions.checkpoint(sessionId, { contents, ...given({ label: label.trim() }) }),
    onSuccess: ({ files }) => {
      announce(`Kept ${counted(files, 'file')}`)
      void queries.invalidateQueries({ queryKey: ['session', sessionId] })
      onClose()
    },
  })
  return (
    <FormDialog
      title="Make a checkpoint"
      verb={make.isPending ? 'Reading the files…' : 'Make it'}
      isReady={isLive}
      isBusy={make.isPending}
      onSend={() => make.mutate()}
      onClose={onClose}
      problem={make.error !== null && <Failed error={make.error} />}
    >
      <TextField
        label="Label"
        placeholder="before the migration"
        maxLength={200}
        autoFocus
        value={label}
        onChange={(event) => setLabel(event.target.value)}
      />
      <label className={styles.check}>
        <input type="checkbox" checked={contents} onChange={(event) => setContents(event.target.checked)} />
        <span>
          Keep the contents, not only their hashes
          <span className={styles.help}>Without them one can compare, but not restore.</span>
        </span>
      </label>
    </FormDialog>
  )
}
