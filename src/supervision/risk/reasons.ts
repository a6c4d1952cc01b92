// What several judges say.

export const NOT_CLEAR = 'runs a program in a way that is not clear'
export const ANY_VALUE = 'calculates with a value that is not known'
export const REACHES = 'runs a script that may publish or install'
export const DOWNLOADS = 'may download a package and run it'
export const SHOWS_ENVIRONMENT = 'shows the environment, which can hold secrets'
