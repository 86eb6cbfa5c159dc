/** {{feature}}: shapes. */

/** The inputs of spec.md. */
export interface Request {}

/** The outputs of spec.md. */
export interface Response {}
