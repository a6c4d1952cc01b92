import { lazy, Suspense } from 'react'
import { Loading } from '../States.tsx'
import type { DiffProps } from './DiffBody.tsx'

/** Most items have no diff. */
const DiffBody = lazy(() => import('./DiffBody.tsx'))

/** A diff, all of it: wrapped, with line numbers, colours, changed words and marks. 20,000 lines scroll like a hundred. */
export const DiffView = (props: DiffProps) => (
  // The list beside it gives way at once.
  <Suspense
    fallback={
      <div data-diff="">
        <Loading rows={8} height={20} />
      </div>
    }
  >
    <DiffBody key={props.text} {...props} />
  </Suspense>
)
