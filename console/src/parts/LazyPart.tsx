import { Component, type ReactNode, Suspense } from 'react'

interface LazyPartProps {
  children: ReactNode
  /** While it is loaded. */
  waiting?: ReactNode
  /** If it cannot be loaded. */
  missing?: ReactNode
}

/** A part that comes later than the page. If the server is away by then, the page goes on without it. */
export class LazyPart extends Component<LazyPartProps, { isMissing: boolean }> {
  override state = { isMissing: false }

  static getDerivedStateFromError() {
    return { isMissing: true }
  }

  override render() {
    const { children, waiting = null, missing = 'This part could not be loaded. Load the page again.' } = this.props
    return this.state.isMissing ? missing : <Suspense fallback={waiting}>{children}</Suspense>
  }
}
