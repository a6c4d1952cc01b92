import type { Session } from 'quarterdeck/client'
import { useSearchParams } from 'wouter'
import { withParams } from '../../../data/list-filters.ts'
import { Select } from '../../../parts/Field.tsx'
import { preciseTime } from '../../../parts/Time.tsx'
import { useCheckpoints } from '../checkpoints/CheckpointsTab.tsx'
import { ApprovedChanges } from './ApprovedChanges.tsx'
import { SinceCheckpoint } from './SinceCheckpoint.tsx'
import styles from './WorkspaceTab.module.css'

/** What the agent has done to its files: the changes that people were asked about, or everything since a checkpoint. */
export default function WorkspaceTab({ session }: { session: Session }) {
  const [params, setParams] = useSearchParams()
  const { data: checkpoints = [] } = useCheckpoints(session.session_id)
  const checkpoint = params.get('checkpoint')
  const chosen = params.get('file')
  const set = (changes: Record<string, string | null>) =>
    setParams((was) => withParams(was, changes), { replace: true })
  const choose = (file: string | null) => set({ file })
  return (
    <div className={styles.tab}>
      <div className={styles.tools}>
        <Select
          label="Show"
          isLabelHidden
          value={checkpoint ?? ''}
          onChange={(event) => set({ checkpoint: event.target.value, file: null })}
        >
          <option value="">Changes that people were asked about</option>
          {checkpoints.map(({ checkpoint_id, label, created_at }) => (
            <option key={checkpoint_id} value={checkpoint_id}>
              Since {label === null ? 'the checkpoint' : `“${label}”`} of {preciseTime(Date.parse(created_at))}
            </option>
          ))}
        </Select>
      </div>
      {checkpoint === null ? (
        <ApprovedChanges sessionId={session.session_id} chosen={chosen} onChoose={choose} />
      ) : (
        <SinceCheckpoint key={checkpoint} checkpointId={checkpoint} chosen={chosen} onChoose={choose} />
      )}
    </div>
  )
}
