"""tf.contrib.learn.preprocessing: documents as numbers."""

import collections
import pickle
import re

import numpy as np

from weir.gfile import GFile

_TOKEN = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(iterator):
    """The words of each document."""
    for value in iterator:
        yield _TOKEN.findall(value)


class ByteProcessor:
    """Documents as their bytes, padded with zeros."""

    def __init__(self, max_document_length):
        self.max_document_length = max_document_length

    def fit(self, x):
        pass

    def fit_transform(self, x):
        return self.transform(x)

    def transform(self, x):
        for document in x:
            data = document.encode("utf-8") if isinstance(document, str) else bytes(document)
            row = np.frombuffer(data[:self.max_document_length], dtype=np.uint8)
            yield np.pad(row, (0, self.max_document_length - len(row)), "constant")

    def reverse(self, x):
        for data in x:
            try:
                yield np.trim_zeros(data.astype(np.int8), trim="b").tobytes().decode("utf-8")
            except UnicodeDecodeError:
                yield ""


class CategoricalVocabulary:
    """Numbers of categories in the order in which they came; 0 is unknown."""

    def __init__(self, unknown_token="<UNK>", support_reverse=True):
        self._unknown_token, self._support_reverse = unknown_token, support_reverse
        self._mapping, self._reverse_mapping = {unknown_token: 0}, [unknown_token]
        self._freq, self._freeze = collections.defaultdict(int), False

    def __len__(self):
        return len(self._mapping)

    def freeze(self, freeze=True):
        self._freeze = freeze

    def get(self, category):
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._mapping[category] = len(self._mapping)
            if self._support_reverse:
                self._reverse_mapping.append(category)
        return self._mapping[category]

    def add(self, category, count=1):
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency, max_frequency=-1):
        """Keeps what came more than ``min_frequency`` times, the most frequent first."""
        ordered = sorted(sorted(self._freq.items(), key=lambda item: (isinstance(item[0], str), item[0])),
                         key=lambda item: item[1], reverse=True)
        kept = [(category, count) for category, count in ordered
                if count > min_frequency and not 0 < max_frequency <= count]
        self._mapping = {self._unknown_token: 0, **{category: i for i, (category, _) in enumerate(kept, 1)}}
        self._reverse_mapping = [self._unknown_token, *(category for category, _ in kept)]
        self._freq = dict(kept)

    def reverse(self, class_id):
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse to support reverse() function.")
        return self._reverse_mapping[class_id]


class VocabularyProcessor:
    """Documents as the numbers of their words, padded with zeros."""

    def __init__(self, max_document_length, min_frequency=0, vocabulary=None, tokenizer_fn=None):
        self.max_document_length, self.min_frequency = max_document_length, min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents, unused_y=None):
        for tokens in self._tokenizer(raw_documents):
            for token in tokens:
                self.vocabulary_.add(token)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents, unused_y=None):
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents):
        for tokens in self._tokenizer(raw_documents):
            ids = np.zeros(self.max_document_length, np.int64)
            for i, token in enumerate(tokens):
                if i >= self.max_document_length:
                    break
                ids[i] = self.vocabulary_.get(token)
            yield ids

    def reverse(self, documents):
        for document in documents:
            yield " ".join(self.vocabulary_.reverse(class_id) for class_id in document)

    def save(self, filename):
        with GFile(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename):
        with GFile(filename, "rb") as file:
            return pickle.loads(file.read())
