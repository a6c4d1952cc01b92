import { Component, type ReactNode } from 'react'
import { Button } from '../parts/Button.tsx'
import { Empty } from '../parts/States.tsx'

interface PageBoundaryProps {
  /** The address. Another one is another try. */
  at: string
  children: ReactNode
}

/**
 * A page that fails takes nothing else with it. Mostly a part of it could not be loaded: the server is away, or has a new version whose
 * files have other names.
 */
export class PageBoundary extends Component<PageBoundaryProps, { error: unknown; at: string }> {
  override state = { error: null, at: this.props.at }

  static getDerivedStateFromError(error: unknown) {
    return { error: error ?? new Error('It gave no reason.') }
  }

  static getDerivedStateFromProps({ at }: PageBoundaryProps, state: { error: unknown; at: string }) {
    return at === state.at ? null : { at, error: null }
  }

  override render() {
    const error: unknown = this.state.error
    if (error === null) return this.props.children
    const isMissing = /import|module|chunk|preload/i.test(String(error))
    return (
      <Empty title={isMissing ? 'A part of the console could not be loaded' : 'This page has failed'}>
        <p>
          {isMissing
            ? 'The server is away, or it has a new version: then this page is an old one. What you have written is kept.'
            : 'That is a mistake in the console. What you have written is kept.'}
        </p>
        <p>{String(error)}</p>
        <Button kind="primary" onClick={() => location.reload()}>
          Load it again
        </Button>
      </Empty>
    )
  }
}
