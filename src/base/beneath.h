/* Opens a file that an untrusted file named, without leaving a folder. */
#ifndef WICK_BASE_BENEATH_H
#define WICK_BASE_BENEATH_H

/* Results of wick_open_beneath other than handles and negated errno values, which are larger than
 * -4096. */
enum {
  WICK_BENEATH_LINK = -10000, /* a component is a link, and the folder is in no model store */
  WICK_BENEATH_OUTSIDE        /* a link leads out of the model store */
};

/* Opens `name`, a relative path of plain components, beneath `folder` for reading. The caller
 * closes the handle. A failure is a negated errno value or one of the results above.
 *
 * A link is followed only in a model store, and only if it stays beneath the store's root. A store
 * is a folder that contains the folders `blobs` and `snapshots`; it is the model's if `folder`,
 * with its links resolved, is ROOT/snapshots/X or beneath that. (Hugging Face's cache is made of
 * such stores: snapshots/REVISION/model.onnx is a link to ../../blobs/HASH.)
 *
 * Each component is opened relative to the handle of the previous one, without following links;
 * links are read and resolved here. So nobody can exchange a folder that has been opened
 * already. */
int wick_open_beneath(const char *folder, const char *name);

#endif
