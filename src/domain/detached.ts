/** Shorter texts V8 copies. */
const SHORT = 13

/**
 * The same text for keeping. V8 keeps the string alive that a longer text was cut from: a token could hold all that came in one read for
 * as long as its answer is put together. Put behind something else it is written anew.
 */
export const detached = (text: string): string => (text.length < SHORT ? text : ` ${text}`.slice(1))
