import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { Loading } from '../../parts/States.tsx'
import styles from './Dock.module.css'

const ApprovalCard = lazy(() =>
  import('../../parts/approval/ApprovalCard.tsx').then((module) => ({ default: module.ApprovalCard })),
)

/**
 * What the run has stopped for, open above the field for the next message. A question that was answered elsewhere says so, and stays
 * while the pointer or the focus is on it.
 */
export function Dock({ questions, onEmpty }: { questions: readonly string[]; onEmpty: () => void }) {
  const box = useRef<HTMLDivElement>(null)
  const [kept, setKept] = useState<readonly string[]>([])
  const shown = [...kept, ...questions.filter((id) => !kept.includes(id))]
  if (shown.some((id) => !kept.includes(id))) setKept(shown)

  /** Lets go of what no longer waits. */
  function tidy(): void {
    if (box.current?.matches(':hover, :focus-within')) return
    setKept((now) => (now.every((id) => questions.includes(id)) ? now : now.filter((id) => questions.includes(id))))
  }
  useEffect(tidy)
  const isEmpty = shown.length === 0
  const wasEmpty = useRef(true)
  useEffect(() => {
    if (isEmpty && !wasEmpty.current) onEmpty()
    wasEmpty.current = isEmpty
  }, [isEmpty, onEmpty])
  if (isEmpty) return null
  return (
    <section ref={box} className={styles.dock} aria-label="Waits for you" onPointerLeave={tidy} onBlur={tidy}>
      {shown.map((id, i) => (
        <Suspense key={id} fallback={<Loading rows={1} height={180} />}>
          <ApprovalCard id={id} docked hasKeys={i === 0} />
        </Suspense>
      ))}
    </section>
  )
}
