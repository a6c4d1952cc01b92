import type { ReactNode } from 'react'

/** A name and what is known by it, in a `<dl>`. */
export function Fact({ name, title, children }: { name: ReactNode; title?: string; children: ReactNode }) {
  return (
    <div title={title}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
