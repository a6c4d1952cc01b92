import type { ComponentProps } from 'react'

type Shape = [tag: 'path' | 'circle' | 'rect' | 'line', attributes: object]

/** In place of lucide's own, of whose many properties the console uses none (`vite.config.ts` puts it there). */
export default function makeIcon({ node }: { node: readonly Shape[] }) {
  return (props: ComponentProps<'svg'>) => (
    // biome-ignore lint/a11y/noSvgWithoutTitle: what it means stands beside it, or is its label
    <svg
      width="1rem"
      height="1rem"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={2}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden={props['aria-label'] === undefined ? true : undefined}
      {...props}
    >
      {node.map(([Tag, attributes], i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of an icon never change places
        <Tag key={i} {...attributes} />
      ))}
    </svg>
  )
}
