import { type ComponentType, lazy } from 'react'

/** A part that comes later than the page. If the server is away by then, the page goes on without it. */
export const lazyPart = <P,>(load: () => Promise<{ default: ComponentType<P> }>, Missing: ComponentType = NotLoaded) =>
  lazy(async (): Promise<{ default: ComponentType<P> }> => {
    try {
      return await load()
    } catch {
      return { default: () => <Missing /> }
    }
  })

function NotLoaded() {
  return <p>This part could not be loaded. Load the page again.</p>
}

/** For what a page can do without. */
export const Nothing = () => null
