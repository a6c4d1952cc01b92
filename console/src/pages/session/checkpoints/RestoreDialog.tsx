import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type Checkpoint, ClientError } from 'quarterdeck/client'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { isRecord } from '../../../../../src/domain/is-record.ts'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { announce } from '../../../parts/Announcer.tsx'
import { Dialog, DialogButtons } from '../../../parts/Dialog.tsx'
import { Failed, Loading } from '../../../parts/States.tsx'
import { VirtualRows } from '../../../parts/VirtualRows.tsx'
import { VisibleText } from '../../../parts/VisibleText.tsx'
import { counted, fullCount } from '../../../words.ts'
import styles from './RestoreDialog.module.css'

/** Shows what a restore would do and asks for exactly that. If the workspace changes meanwhile, it shows the new plan and asks again. */
export function RestoreDialog({ checkpoint, onClose }: { checkpoint: Checkpoint; onClose: () => void }) {
  const client = useClient()
  const queries = useQueryClient()
  const [, go] = useLocation()
  const isLive = useIsLive()
  const [newer, setNewer] = useState<RestorePlan | null>(null)
  const first = useQuery({
    queryKey: ['restore-plan', checkpoint.checkpoint_id],
    queryFn: async ({ signal }) => {
      try {
        await client.checkpoints.restore(checkpoint.checkpoint_id, { signal })
      } catch (error) {
        const plan = planIn(error)
        if (plan !== null) return plan
        throw error
      }
      throw new Error('The server has restored it without asking.')
    },
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  const plan = newer ?? first.data
  const restore = useMutation({
    mutationFn: (digest: string) => client.checkpoints.restore(checkpoint.checkpoint_id, { confirm: digest }),
    onSuccess: ({ session, written, removed, not_restored }) => {
      const left = not_restored.length === 0 ? '' : `, ${not_restored.length} could not be restored`
      announce(`Restored: ${written} written, ${removed} removed${left}. This is the new session`)
      void queries.invalidateQueries({ queryKey: ['session'] })
      onClose()
      go(`/sessions/${session.session_id}`)
    },
    onError: (error) => setNewer((was) => planIn(error) ?? was),
  })
  const isChanged = restore.error !== null && planIn(restore.error) !== null
  return (
    <Dialog
      title={`Restore “${checkpoint.label ?? 'checkpoint'}”?`}
      onClose={onClose}
      width="wide"
      actions={
        <DialogButtons
          onCancel={onClose}
          kind="danger"
          isBusy={restore.isPending}
          disabled={!isLive || plan === undefined}
          onClick={() => plan !== undefined && restore.mutate(plan.digest)}
        >
          Restore
        </DialogButtons>
      }
    >
      <p>
        The files in <code>{checkpoint.workspace_root}</code> become what they were. The session ends, and a new one of
        the same owner begins. What is overwritten is kept in another checkpoint, so this can be undone.
      </p>
      {isChanged && (
        <p className={styles.changed} role="alert">
          The workspace has changed meanwhile, and nothing was restored. This is what would change now.
        </p>
      )}
      {first.isPending && <Loading rows={4} height={32} />}
      {first.error !== null && <Failed error={first.error} onRetry={() => void first.refetch()} />}
      {plan !== undefined && <PlanLists plan={plan} />}
      {restore.error !== null && !isChanged && <Failed error={restore.error} />}
    </Dialog>
  )
}

const keyOf = (path: string): string => path
const ROW = 24
const MOST_ROWS = 8

function PlanLists({ plan }: { plan: RestorePlan }) {
  if (plan.lists.length === 0) return <p>The workspace is as it was at the checkpoint. No file changes.</p>
  return (
    <div className={styles.lists}>
      {plan.lists.map(({ name, paths, count }) => (
        <section
          key={name}
          className={styles.list}
          data-danger={name === 'protected' || name === 'lost_for_good' || undefined}
        >
          <h3>
            {planWords[name].title}: {counted(count, 'file')}
          </h3>
          <p className={styles.text}>{planWords[name].text}</p>
          <div className={styles.paths} style={{ height: Math.min(paths.length, MOST_ROWS) * ROW }}>
            <VirtualRows items={paths} keyOf={keyOf} rowHeight={ROW} label={planWords[name].title}>
              {(path) => (
                <code className={styles.path}>
                  <VisibleText text={path} inline />
                </code>
              )}
            </VirtualRows>
          </div>
          {count > paths.length && <p className={styles.text}>And {fullCount(count - paths.length)} more.</p>}
        </section>
      ))}
    </div>
  )
}

/** What a restore would do, as the server lists it. Each list has up to 1,000 paths; `counts` has the whole numbers. */
interface RestorePlan {
  digest: string
  lists: { name: PlanList; paths: string[]; count: number }[]
}

type PlanList = 'protected' | 'lost_for_good' | 'modified' | 'deleted' | 'added' | 'cannot_restore' | 'unknown'

/** What one must not overlook comes first. */
const order: readonly PlanList[] = [
  'protected',
  'lost_for_good',
  'modified',
  'deleted',
  'added',
  'cannot_restore',
  'unknown',
]

/** The plan in a 409 of a restore. Null: it is another error. */
export function planIn(error: unknown): RestorePlan | null {
  if (!(error instanceof ClientError) || error.code !== 'restore_unconfirmed') return null
  const { digest, counts, ...facts } = error.problem ?? {}
  if (typeof digest !== 'string') return null
  const numbers = isRecord(counts) ? counts : {}
  const lists = order.flatMap((name) => {
    const given = facts[name]
    const paths = Array.isArray(given) ? given.filter((path): path is string => typeof path === 'string') : []
    const number = numbers[name]
    const count = typeof number === 'number' ? number : paths.length
    return count === 0 ? [] : [{ name, paths, count }]
  })
  return { digest, lists }
}

const planWords: Readonly<Record<PlanList, { title: string; text: string }>> = {
  protected: { title: 'Protected', text: 'Nobody may write to these places without a person. Look closely.' },
  lost_for_good: {
    title: 'Lost for good',
    text: 'Too large to be kept: an undo cannot bring their present content back.',
  },
  modified: { title: 'Will be overwritten', text: 'They get the content that they had at the checkpoint.' },
  deleted: { title: 'Will come back', text: 'They were deleted since the checkpoint.' },
  added: { title: 'Will be removed', text: 'They are newer than the checkpoint.' },
  cannot_restore: { title: 'Stay as they are', text: 'The checkpoint has their hash, not their content.' },
  unknown: { title: 'Not compared', text: 'They could not be read, now or at the checkpoint.' },
}
