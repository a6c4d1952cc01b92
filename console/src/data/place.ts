import { createContext, type ReactNode, useContext } from 'react'

/** Which page somebody is on, and what they may do there. */
export interface Place {
  /** `talk`: the page for users, which has the chat and little else. */
  page: 'console' | 'talk'
  /** `anyone`: has shown no token. They may talk, and decide nothing. */
  role: 'operator' | 'user' | 'anyone'
  /** Beside the heading of a chat: ways to the other pages, where no navigation has them. */
  ways: ReactNode
}

export const PlaceContext = createContext<Place>({ page: 'console', role: 'operator', ways: null })

export const usePlace = (): Place => useContext(PlaceContext)
